import { MOTO } from './subjects/moto-subject.ts';
import { transportContract } from './transport-contract.ts';

transportContract(MOTO);
