/** Reporter of vitest: each file as it ends from version 3 on, all at the end before. */
import { createRequire } from 'node:module';

const { openReport, saidBy } = createRequire(import.meta.url)('./report.cjs');

const STATUS = { passed: 'passed', pass: 'passed', failed: 'failed', fail: 'failed' };

export default class FleetReporter {
  #report = openReport('vitest');
  #byFile = false;

  onTestModuleEnd(module) {
    this.#byFile = true;
    for (const test of module.children.allTests()) {
      const name = [];
      for (let part = test; part.type !== 'module'; part = part.parent) name.unshift(part.name);
      const said = allSaid(test.result().errors);
      this.#write({ name, project: module.project.name, file: module.moduleId, status: statusOf(test), said });
    }
    // It could not be loaded.
    const errors = module.errors?.() ?? [];
    if (errors.length > 0)
      this.#write({
        ...{ name: [module.moduleId], project: module.project.name, file: module.moduleId },
        ...{ status: 'failed', fixture: true, said: allSaid(errors) },
      });
  }

  onFinished(files = []) {
    if (this.#byFile) return;
    const walk = (task, file, path) => {
      const name = [...path, task.name];
      if (task.type === 'suite') for (const child of task.tasks) walk(child, file, name);
      else
        this.#write({
          ...{ name, project: file.projectName, file: file.filepath, status: STATUS[task.result?.state] },
          said: allSaid(task.result?.errors),
        });
    };
    for (const file of files) for (const task of file.tasks) walk(task, file, []);
  }

  #write({ project, name, status, ...rest }) {
    this.#report({ ...rest, name: project ? [project, ...name] : name, status: status ?? 'skipped' });
  }
}

const allSaid = (errors) => errors?.map(saidBy).join('\n');

/** `fails` turns a failure into a pass: no evidence. */
const statusOf = (test) => (test.options?.fails ? 'skipped' : STATUS[test.result().state]);
