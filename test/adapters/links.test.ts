import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { lookup } from 'node:dns';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { askLinks } from '../../src/adapters/artifacts/links.ts';
import { until } from '../helpers/until.ts';

describe('asking a link', () => {
  let server: Server;
  let url: string;
  const asked: string[] = [];
  beforeEach(async () => {
    asked.length = 0;
    server = createServer(({ url: path = '' }, response) => {
      asked.push(path);
      if (path === '/silent') return;
      const to = { '/moved': '/there', '/round': '/round', '/inside': 'http://localhost:1/' }[path];
      response.writeHead(to ? 302 : path === '/there' ? 200 : path === '/shut' ? 403 : 404, to ? { location: to } : {});
      response.end('x'.repeat(100_000));
    }).listen(0, '127.0.0.1');
    await until(() => server.address());
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });
  const own = (host: string) => host === '127.0.0.1';

  test('what it answers decides; a redirect is followed, a few times', async () => {
    const links = ['/there', '/moved', '/none', '/shut', '/round'].map((path) => url + path);
    const states = await askLinks(links, { mayAsk: own });
    expect(states.map(({ state }) => state)).toEqual(['there', 'there', 'gone', 'unknown', 'unknown']);
  });

  test.each(['http://127.0.0.1', 'http://2130706433', 'http://[::1]', 'http://[::ffff:127.0.0.1]', 'http://localhost'])(
    '%s is private, and not asked',
    async (host) => {
      const [state] = await askLinks([url.replace('http://127.0.0.1', host)], { mayAsk: () => false });
      expect(state).toMatchObject({ state: 'unknown', why: 'leads to a private address, which is not asked' });
      expect(asked).toEqual([]);
    },
  );

  test('nor is one that a redirect leads to', async () => {
    expect(await askLinks([`${url}/inside`], { mayAsk: own })).toMatchObject([
      { state: 'unknown', why: 'leads to a private address, which is not asked' },
    ]);
  });

  const address: Record<string, string> = { 'inside.example': '127.0.0.1', 'metadata.example': '169.254.169.254' };
  const resolve = ((host: string, _options: object, answered: (error: Error | null, found?: object[]) => void) =>
    address[host]
      ? answered(null, [{ address: address[host], family: 4 }])
      : answered(Object.assign(new Error('none'), { code: 'ENOTFOUND' }))) as unknown as typeof lookup;
  const named = (host: string) => `${url.replace('127.0.0.1', host)}/there`;

  test('a name that leads to a private address is asked only where it is named', async () => {
    const links = [named('inside.example'), named('metadata.example')];
    expect(await askLinks(links, { mayAsk: () => false, resolve })).toMatchObject(
      links.map(() => ({ state: 'unknown', why: 'leads to a private address, which is not asked' })),
    );
    expect(asked).toEqual([]);
    const mayAsk = (host: string) => host === 'inside.example';
    expect(await askLinks([links[0]!], { mayAsk, resolve })).toMatchObject([{ state: 'there' }]);
  });

  test('a host is gone only where names are resolved here', async () => {
    const mayAsk = (host: string) => host === 'inside.example';
    const state = async (links: string[], proxied: boolean) =>
      (await askLinks(links, { mayAsk, resolve, proxied })).at(-1)?.state;
    const both = [named('inside.example'), named('none.example')];
    expect(await state(both, false)).toBe('gone');
    expect(await state(both, true)).toBe('unknown');
    expect(await state(both.slice(1), false)).toBe('unknown');
  });

  test('a refused connection says nothing of the link', async () => {
    const [one] = await askLinks(['http://127.0.0.1:1/'], { mayAsk: own });
    expect(one).toMatchObject({ state: 'unknown', why: 'has a host that takes no connection' });
  });

  test('one that does not answer has a deadline', async () => {
    const [state] = await askLinks([`${url}/silent`], { mayAsk: own, eachMs: 300 });
    expect(state).toMatchObject({ state: 'unknown', why: 'gave no answer in time' });
  });

  test('a worker that is told to stop waits for none', async () => {
    const stop = new AbortController();
    const answer = askLinks([`${url}/silent`], { mayAsk: own, signal: stop.signal });
    await until(() => asked.length > 0);
    stop.abort(new Error('stopped'));
    await expect(answer).rejects.toThrow('stopped');
  });
});
