import { MEMORY } from './subjects/memory-subject.ts';
import { transportContract } from './transport-contract.ts';

transportContract(MEMORY);
