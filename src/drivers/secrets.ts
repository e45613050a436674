const SECRET = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|AUTH/i;
const LEAST = 8;

/** Puts the names of variables where the values of those stand that look like secrets by their name. */
export function redactor(env: Readonly<Record<string, string | undefined>>): (text: string) => string {
  const secrets = Object.entries(env)
    .flatMap(([name, value]) => (value && value.length >= LEAST && SECRET.test(name) ? [[name, value] as const] : []))
    .sort(([, a], [, b]) => b.length - a.length);
  return (text) => secrets.reduce((left, [name, value]) => left.replaceAll(value, `[${name}]`), text);
}
