import { describe, expect, test } from '@jest/globals';
import { FINDINGS, joined, seal } from '../helpers/bundles.ts';
import { FILE_FORGERIES } from './forged-files.ts';
import { FORM_FORGERIES } from './forged-forms.ts';
import { LIE_FORGERIES } from './forged-lies.ts';
import { SIGNATURE_FORGERIES } from './forged-signatures.ts';
import { ada, chained, check, honest, lines, rejected, twice, VERDICT, verdict } from './forgery-lab.ts';

/** Each forgery is told by the first thing that is wrong with it. */
const FORGERIES = [...FILE_FORGERIES, ...SIGNATURE_FORGERIES, ...FORM_FORGERIES, ...LIE_FORGERIES];

describe('honest bundles', () => {
  test('an accepted run', () => {
    const checked = check(honest, { task: 't1', runId: '2-abcd', verdict: verdict.digest });
    expect(checked).toMatchObject({ ok: true, accepted: true, task: 't1', runId: '2-abcd', verdict: verdict.digest });
    expect(checked.statements.map(({ kind }) => kind)).toEqual(['run', ...FINDINGS.map(({ kind }) => kind), 'verdict']);
    expect(check(honest.trimEnd())).toMatchObject({ ok: true });
  });

  test('a rejected run says why', () => {
    expect(check(joined(rejected))).toMatchObject({
      ...{ ok: true, accepted: false, reasons: ['acceptance: not as it should be'] },
    });
  });

  test('a run that was verified elsewhere', () => {
    const checked = check(twice);
    expect(checked).toMatchObject({ ok: true, accepted: true });
    expect(checked.statements.slice(-5).map(({ kind, worker }) => [kind, worker])).toEqual([
      ['run', 'eve'],
      ['acceptance', 'eve'],
      ['control', 'eve'],
      ['replay', 'eve'],
      ['verdict', 'eve'],
    ]);
    expect(check(seal({ signer: ada, run: { where: 'other' }, failed: 'exit' }).text)).toMatchObject({
      accepted: false,
    });
  });

  test('of a key with a window that it lies in, also among others of that key', () => {
    const windows = [
      { ...ada.trusted, notAfter: '2026-01-01T00:00:00Z' },
      { ...ada.trusted, notBefore: '2026-11-01T00:00:00Z', notAfter: '2026-12-01T00:00:00Z' },
    ];
    expect(check(honest, { trusted: windows })).toMatchObject({ ok: true });
  });

  test('what was dropped by a chain of our own making is what was told', () => {
    expect(check(chained(lines))).toMatchObject({ ok: true, accepted: true });
  });
});

describe('forgeries', () => {
  test.each(FORGERIES.map(([name, problem, ...rest]) => ({ name, problem, rest })))(
    '$name: $problem',
    ({ problem, rest }) => {
      const [line, text, trust] = rest;
      const checked = check(text(), trust);
      expect(checked).toMatchObject({ ok: false, problem, line });
      if (line !== null && line <= VERDICT) expect(checked.statements).toHaveLength(line - 1);
    },
  );

  test('every byte of a bundle counts', () => {
    const accepted: number[] = [];
    for (let i = 0; i < honest.length - 1; i += 61) {
      const forged = `${honest.slice(0, i)}${honest[i] === 'A' ? 'B' : 'A'}${honest.slice(i + 1)}`;
      if (check(forged).ok) accepted.push(i);
    }
    expect(accepted).toEqual([]);
  });
});
