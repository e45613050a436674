import { expect, test } from '@jest/globals';
import { verifyBoth } from '../../../src/domain/repository/merge-verify.ts';

test('only what stands above may challenge nothing', () => {
  expect(verifyBoth({ commands: ['a'] }, { challenge: 'off' })).toEqual({ commands: ['a'] });
  expect(verifyBoth({ challenge: 'off' }, { commands: ['a'] })).toEqual({ commands: ['a'], challenge: 'off' });
  expect(verifyBoth({ commands: ['a'] }, { challenge: 'auto' })).toEqual({ commands: ['a'], challenge: 'auto' });
});
