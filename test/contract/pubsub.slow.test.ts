import { PUBSUB } from './subjects/pubsub-subject.ts';
import { transportContract } from './transport-contract.ts';

transportContract(PUBSUB);
