/** What vendors' keys and tokens look like: a prefix, and a long random part, which has a digit or is starred out. */
const KEYS =
  /\b((?:sk|key|pk|xai|gsk|sess|gh[opsur]|github_pat|glpat|npm|xox[a-z])[-_]|AKIA|AIza|eyJ)(?=[A-Za-z_.-]{0,100}[\d*])[A-Za-z0-9_.*-]{12,}/g;
/** What is sent to say who asks, with or without its scheme. */
const SAID_WHO =
  /\b(Bearer\s{1,20}|Authorization['"]?\s{0,20}[:=]\s{0,20}['"]?(?:(?:Basic|Bearer|token)\s{1,20})?)[^\s'"\\,}…]{8,}/gi;

/** What an agent, or a vendor's refusal, says may repeat a key. It takes time in proportion to the text. */
export const withoutKeys = (text: string): string => text.replace(SAID_WHO, '$1…').replace(KEYS, '$1…');
