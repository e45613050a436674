import { AsyncLocalStorage } from 'node:async_hooks';

// The workflow library takes it from the global scope when it is first loaded: this module is imported before it.
Object.assign(globalThis, { AsyncLocalStorage });
