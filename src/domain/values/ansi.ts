/** A text without the escape sequences that a terminal would act on. */
export const withoutEscapes = (text: string): string =>
  text.replace(/\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g, '');
