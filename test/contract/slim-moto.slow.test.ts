import { SLIM_MOTO } from './subjects/moto-subject.ts';
import { transportContract } from './transport-contract.ts';

transportContract(SLIM_MOTO);
