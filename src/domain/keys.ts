/** What vendors' keys and tokens look like: a prefix, and a long random part. */
const KEYS = /\b((?:sk|key|pk|xai|gsk|ghp|gho|ghu|github_pat|sess|eyJ)[-_]?|AIza|Bearer\s+)[A-Za-z0-9_.*-]{12,}/gi;

/** A vendor's refusal may repeat the key that it refused. */
export const withoutKeys = (text: string): string => text.replace(KEYS, '$1…');
