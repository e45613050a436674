import { expect, test } from '@jest/globals';
import { programOf } from '../../../src/domain/repository/declared-dependencies.ts';

test.each([
  ['go test ./...', 'go'],
  ['python3 -m pytest', 'python3'],
  ['cd nowhere && make', undefined],
  ['if true; then make; fi', undefined],
  ['export A=1; make', undefined],
  ['A=1 make', undefined],
  ['./check.sh', undefined],
  ['', undefined],
])('%j starts %s', (command, program) => expect(programOf(command)).toBe(program));
