import { EMBEDDED_SQS } from './subjects/embedded-sqs-subject.ts';
import { transportContract } from './transport-contract.ts';

transportContract(EMBEDDED_SQS);
