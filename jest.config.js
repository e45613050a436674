/** The tests run the TypeScript sources; end-to-end tests drive the built program in dist. */
export default {
  testEnvironment: 'node',
  testEnvironmentOptions: { globalsCleanup: 'off' },
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  testPathIgnorePatterns: [
    '/test/agents/',
    '/test/attacks/',
    '/test/e2e/',
    '/test/faults/',
    '/test/queue/',
    '/test/long/',
    '/test/corpus/(?:all|planted|hiding|generate)',
    '/node_modules/',
  ],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '\\.ts$': ['@swc/jest', { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'es6' } }],
  },
  maxWorkers: 2,
  testTimeout: 240_000,
};
