import { describe, expect, test } from '@jest/globals';
import { attend, farewell, whenIdle } from '../../src/cli/attend.ts';
import { stayAttached } from '../../src/cli/stay-attached.ts';
import type { Cli } from '../../src/cli/command.ts';
import { loadConfig } from '../../src/config.ts';
import type { RunningWorker } from '../../src/workers/worker.ts';
import { until } from '../helpers/until.ts';

const config = loadConfig({ home: '/nonexistent', env: {} });
const draining = loadConfig({ home: '/nonexistent', env: { FLEET_WORKER_ON_TERM: 'drain' } });
const TALLY = { since: '', takenIn: 3, done: 2, failed: 0, cancelled: 1, parked: 0, handedOver: 0, live: 0 };

function deferred() {
  let [resolve, reject] = [() => {}, (_error: Error) => {}];
  const promise = new Promise<void>((...both) => ([resolve, reject] = both));
  return { promise, resolve, reject };
}

/** A worker whose stop can be held, and a terminal that can press Ctrl-C. */
function stage({ used }: { used: number }) {
  const done = deferred();
  const stopped: string[] = [];
  const said: string[] = [];
  const listeners = new Set<(signal: NodeJS.Signals) => void>();
  const press = (signal: NodeJS.Signals) => listeners.forEach((listener) => listener(signal));
  const worker = {
    name: 'one',
    slots: { total: 3, used: () => used },
    done: done.promise,
    stop: async (how: string) => {
      stopped.push(how);
      if (used === 0 || how === 'stop-agents') done.resolve();
      await done.promise;
    },
    drain: () => stopped.push('drain'),
    drained: () => (stopped.includes('drain') ? TALLY : undefined),
    idle: async () => true,
  } as unknown as RunningWorker;
  const cli = {
    note: (text: string) => said.push(text),
    print: (_value: unknown, human: () => string) => said.push(human()),
    onSignal: (listener: typeof press) => {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  } as unknown as Cli;
  return { worker, cli, stopped, said, press: (signal: NodeJS.Signals = 'SIGINT') => press(signal), done };
}

describe('Ctrl-C', () => {
  test('without a run stops at once', async () => {
    const { worker, cli, stopped, said, press } = stage({ used: 0 });
    const attending = attend(cli, worker, { config });
    press();
    await attending;
    expect({ stopped, said }).toEqual({ stopped: ['leave-agents'], said: ['stopping'] });
  });

  test('with runs leaves the agents; once more stops them', async () => {
    const { worker, cli, stopped, said, press } = stage({ used: 2 });
    const attending = attend(cli, worker, { config });
    press();
    expect(said).toEqual([
      '2 agents keep running for 30s: start again to adopt them, Ctrl-C again within 3s to stop them now',
    ]);
    press();
    press();
    await attending;
    expect(stopped).toEqual(['stop-agents']);
    expect(said).toHaveLength(2);
  });

  test('TERM leaves the agents at once', async () => {
    const { worker, cli, stopped, press, done } = stage({ used: 2 });
    const attending = attend(cli, worker, { config });
    press('SIGTERM');
    expect(stopped).toEqual(['leave-agents']);
    done.resolve();
    await attending;
  });

  test('with worker.onTerm=drain TERM lets the runs finish, and a report ends it', async () => {
    const { worker, cli, stopped, said, press, done } = stage({ used: 2 });
    const attending = attend(cli, worker, { config: draining });
    press('SIGTERM');
    expect(stopped).toEqual(['drain']);
    done.resolve();
    await attending;
    expect(said).toEqual([
      'draining: 2 runs to finish; TERM or Ctrl-C again stops the agents now',
      'drained: 3 taken in = 2 done + 0 failed + 1 cancelled + 0 parked + 0 handed over',
    ]);
  });

  test('a second TERM during a drain stops the agents', async () => {
    const { worker, cli, stopped, press } = stage({ used: 2 });
    const attending = attend(cli, worker, { config: draining });
    press('SIGTERM');
    press('SIGTERM');
    await attending;
    expect(stopped).toEqual(['drain', 'stop-agents']);
  });

  test('with worker.onTerm=drain Ctrl-C still leaves the agents', async () => {
    const { worker, cli, stopped, press } = stage({ used: 0 });
    const attending = attend(cli, worker, { config: draining });
    press('SIGINT');
    await attending;
    expect(stopped).toEqual(['leave-agents']);
  });

  test('says one agent as one', () =>
    expect(farewell(1, 30_000)).toContain('1 agent keeps running for 30s: start again to adopt it'));
});

describe('a worker that breaks', () => {
  test('attaches anew, however often that fails, and its first start may fail only once', async () => {
    const [first, second] = [stage({ used: 0 }), stage({ used: 0 })];
    const starts = [
      async () => first.worker,
      async () => Promise.reject(new Error('no server')),
      async () => second.worker,
    ];
    const attached: unknown[] = [];
    const staying = stayAttached(first.cli, () => starts.shift()!(), {
      config,
      attached: (worker) => attached.push(worker),
    });
    first.done.reject(new Error('broken'));
    await until(() => first.said.includes('worker one is attached again'));
    first.press();
    await staying;
    expect(first.said).toEqual(['broken: attaching again', 'no server', 'worker one is attached again', 'stopping']);
    expect([attached, second.stopped]).toEqual([[first.worker], ['leave-agents']]);
    const refused = stayAttached(first.cli, () => Promise.reject(new Error('no server')), {
      config,
      attached: () => {},
    });
    await expect(refused).rejects.toThrow('no server');
  });

  test('after Ctrl-C ends the command with its error', async () => {
    const { worker, cli, done, press } = stage({ used: 1 });
    const attending = attend(cli, worker, { config });
    press('SIGTERM');
    done.reject(new Error('broken'));
    await expect(attending).rejects.toThrow('broken');
  });
});

test('--until-idle counts only unbroken idleness', async () => {
  let now = 0;
  const looks = [true, true, false, new Error('no server'), true, true, true, true, true, true];
  let looked = 0;
  const idle = async () => {
    const look = looks[looked++];
    if (look instanceof Error) throw look;
    return look ?? true;
  };
  const watch = {
    ms: 8_000,
    signal: new AbortController().signal,
    now: () => now,
    sleep: async (ms: number) => void (now += ms),
  };
  await whenIdle({ idle }, watch);
  // Two seconds between looks: idle from the fifth look at 8 s until 16 s.
  expect({ now, looked }).toEqual({ now: 16_000, looked: 9 });
});
