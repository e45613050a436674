import { object, parseObject, text, type Json } from '../../domain/values/json.ts';

/** A CLI's own configuration: JSON, with comments and trailing commas. Undefined where it is missing or cannot be read. */
export function ownConfig(config: string | undefined): Json | undefined {
  const plain = config?.replace(/("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*[^]*?\*\//g, '$1');
  return plain === undefined ? undefined : parseObject(plain.replace(/("(?:\\.|[^"\\])*")|,(?=\s*[}\]])/g, '$1'));
}

/** The entry of one provider, below a key of a CLI's configuration. */
export const providerIn = (config: Json | undefined, key: string, name: string): Json =>
  object(object(config?.[key])?.[name]) ?? {};

/** The texts among an object's values, with names in lower case: headers. */
export const lowerCase = (values: unknown, put: (value: string) => string | undefined): Record<string, string> =>
  Object.fromEntries(
    Object.entries(object(values) ?? {}).flatMap(([name, value]) => {
      const header = text(value) && put(text(value));
      return header ? [[name.toLowerCase(), header]] : [];
    }),
  );
