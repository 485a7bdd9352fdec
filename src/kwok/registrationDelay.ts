import type { KwokNodeClass } from '../api/kinds/kwokNodeClass.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import { Annotations } from '../api/labels.ts';
import { Duration } from '../units/duration.ts';

/** Milliseconds between launch and joining: the class's delay plus the claim's share of the jitter. */
export function registrationDelay({ metadata, spec }: KwokNodeClass, claim: NodeClaim): number {
  const jitter = metadata.annotations?.[Annotations.registrationJitter] ?? '0s';
  const { milliseconds } = Duration.parse(jitter);
  return Duration.parse(spec?.nodeRegistrationDelay ?? '0s').milliseconds + Math.round(milliseconds * share(claim));
}

/** Between 0 and 1, deterministic per claim. */
function share({ metadata: { uid = '', name } }: NodeClaim): number {
  let hash = 0x811c9dc5;
  for (const letter of uid + name) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193);
  return (hash >>> 0) / 2 ** 32;
}
