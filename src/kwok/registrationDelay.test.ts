import { expect, it } from 'vitest';
import { Annotations } from '../api/labels.ts';
import { registrationDelay } from './registrationDelay.ts';

const claim = (uid: string) => ({ metadata: { name: 'claim', uid } }) as never;

it('is the same for all Nodes of a class, unless it has a jitter', () => {
  const nodeClass = { metadata: { name: 'default' }, spec: { nodeRegistrationDelay: '5s' } };
  expect(registrationDelay(nodeClass, claim('a'))).toBe(5_000);
  const jittered = {
    ...nodeClass,
    metadata: { name: 'default', annotations: { [Annotations.registrationJitter]: '30s' } },
  };
  const delays = Array.from({ length: 200 }, (_, at) => registrationDelay(jittered, claim(`uid-${at}`)));
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(5_000);
  expect(Math.max(...delays)).toBeLessThanOrEqual(35_000);
  for (const end of [10_000, 20_000, 30_000]) expect(delays.some((delay) => delay > end)).toBe(true);
  expect(registrationDelay(jittered, claim('uid-7'))).toBe(delays[7]);
});
