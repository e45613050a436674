/** jest and mocha, also where a script starts them: recognised by the modules that every start of theirs goes through. */
const Module = require('node:module');
const { hideProbes, openReport, saidBy } = require('./report.cjs');

const { require: load } = Module.prototype;
const seen = new WeakMap();
const reports = new WeakMap();

Module.prototype.require = function (id) {
  const exported = load.call(this, id);
  if (id === 'jest-config') return jest(exported);
  if (/(^|[\\/])mocha(\.c?js)?$/.test(id)) mocha(exported?.default ?? exported);
  return exported;
};

/** One more reporter in the configuration that jest read, behind those that it names. */
function jest(config) {
  if (typeof config?.readConfigs !== 'function') return config;
  if (!seen.has(config)) {
    const readConfigs = async (argv, ...rest) => {
      const read = await config.readConfigs(argv, ...rest);
      if (argv?.listTests || argv?.showConfig || argv?.clearCache) return read;
      hideProbes(process.env);
      // Now, as jest asks no reporter where it finds no test.
      const report = openReport('jest');
      globalThis[Symbol.for('fleet.jest')] = report;
      const reporters = [...(read.globalConfig.reporters ?? [['default', {}]]), [require.resolve('./jest.cjs'), {}]];
      return { ...read, globalConfig: Object.freeze({ ...read.globalConfig, reporters }) };
    };
    seen.set(config, new Proxy(config, { get: (from, key) => (key === 'readConfigs' ? readConfigs : from[key]) }));
  }
  return seen.get(config);
}

/** The reporter that was asked for, and a listener; `_reporter` is there since mocha 1, and in parallel runs as well. */
function mocha(Mocha) {
  const methods = Mocha?.prototype;
  if (typeof methods?.run !== 'function' || typeof methods.addFile !== 'function' || seen.has(Mocha)) return;
  seen.set(Mocha, true);
  // Not when it is loaded: its command starts itself again where node options are asked for.
  for (const name of ['loadFiles', 'loadFilesAsync', 'run']) {
    const method = methods[name];
    if (typeof method !== 'function') continue;
    methods[name] = function (...args) {
      hideProbes(process.env);
      if (!reports.has(this)) reports.set(this, begun());
      if (name === 'run') this._reporter = listening(this._reporter, reports.get(this));
      return method.apply(this, args);
    };
  }
}

/** Loading its files may end the process as well as running them. */
function begun() {
  const report = openReport('mocha');
  report.run('begins');
  return report;
}

function listening(Asked, report) {
  return class extends Asked {
    constructor(runner, options) {
      super(runner, options);
      const write = (status) => (test, error) => {
        const said = error === undefined ? undefined : saidBy(error);
        report({ name: test.titlePath(), file: test.file, status, fixture: test.type === 'hook' || undefined, said });
      };
      runner.on('pass', write('passed')).on('pending', write('skipped'));
      // A hook that fails is reported as a failed test of its name.
      // First of all, as mocha's own reporters put strings in the place of its values.
      runner.prependListener('fail', write('failed')).on('end', () => report.run('ends'));
    }
  };
}
