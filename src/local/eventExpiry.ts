/** Events do not last: an API server keeps each for an hour after it was last written. In: time. Out: old ones go. */
import { Kinds, type Event } from '../api/kinds.ts';
import type { Clock } from '../clock/clock.ts';
import type { Random } from '../clock/random.ts';
import { ignoreNotFound } from '../kube/errors.ts';
import type { Kube } from '../kube/kube.ts';
import type { Log } from '../kube/log.ts';
import type { Controller } from '../kube/runtime/controller.ts';
import { singleton } from '../kube/runtime/singleton.ts';

export interface EventExpiryOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

const LIFETIME = 3_600_000;
const PERIOD = 120_000;

const writtenAt = ({ metadata, lastTimestamp, eventTime, series }: Event): number =>
  Math.max(
    ...[metadata.creationTimestamp, lastTimestamp, eventTime, series?.lastObservedTime].map(
      (time) => Date.parse(time ?? '') || 0,
    ),
  );

export function eventExpiryController({ kube, clock, random, log }: EventExpiryOptions): Controller {
  async function round(signal: AbortSignal): Promise<void> {
    const oldest = clock.now() - LIFETIME;
    for (const event of (await kube.list(Kinds.Event, { signal })).items) {
      if (writtenAt(event) >= oldest) continue;
      const { name, namespace } = event.metadata;
      await ignoreNotFound(kube.delete(Kinds.Event, { name, namespace }));
    }
  }
  return singleton({ name: 'local.eventexpiry', clock, random, log, interval: PERIOD, reconcile: round });
}
