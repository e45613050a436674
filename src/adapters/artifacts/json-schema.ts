import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

/** What is wrong with a JSON text, as the end of a sentence. @throws where the schema is none, or refers to somewhere else */
export function describedBy(schema: object): (text: string) => string | undefined {
  const ajv = new Ajv2020({ strict: false, allErrors: false });
  formats.default(ajv);
  const valid = ajv.compile(schema);
  return (text) => {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return 'is no JSON';
    }
    if (valid(value)) return undefined;
    const error = valid.errors?.[0];
    return `is not as its schema says: ${error?.instancePath || 'it'} ${error?.message ?? ''}`;
  };
}
