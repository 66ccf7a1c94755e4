import { EMBEDDED_SLIM_SQS } from './subjects/embedded-sqs-subject.ts';
import { transportContract } from './transport-contract.ts';

transportContract(EMBEDDED_SLIM_SQS);
