import { expect, it } from 'vitest';
import { withSecretAdvice } from '../../../lib/config/settings/secret-advice.ts';

it.each([
  ['ParameterNotFound', /^ParameterNotFound; create it in the region/],
  ['ResourceNotFoundException: no secret', /^ResourceNotFoundException: no secret; create it/],
  ['AccessDeniedException: not authorized', /not authorized; allow the role of the sidecar/],
  ['KMSAccessDeniedException: no', /; allow the role of the sidecar to read and decrypt it/],
  ['InvalidRequestException: marked', /; check whether it is scheduled for deletion$/],
  ['ThrottlingException: rate exceeded', /^ThrottlingException: rate exceeded$/],
])('%s', (problem, expected) => {
  expect(withSecretAdvice(problem)).toMatch(expected);
});
