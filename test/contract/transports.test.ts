import { EMBEDDED_SQS } from './subjects/embedded-sqs-subject.ts';
import { MEMORY } from './subjects/memory-subject.ts';
import { MOTO } from './subjects/moto-subject.ts';
import { transportContract } from './transport-contract.ts';

transportContract(EMBEDDED_SQS);
transportContract(MOTO);
transportContract(MEMORY);
