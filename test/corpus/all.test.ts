import { defineCorpus } from './define-corpus.ts';
import { ALL } from './families.ts';

defineCorpus(ALL);
