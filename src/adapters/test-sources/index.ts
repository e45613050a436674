export { isDeclared } from './is-declared.ts';
export { isRead, testFiles } from './languages.ts';
export { readSources } from './read-sources.ts';
export { turnTests } from './turn-tests.ts';
