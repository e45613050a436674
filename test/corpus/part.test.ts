import { defineCorpus } from './define-corpus.ts';
import { PART } from './families.ts';

defineCorpus(PART);
