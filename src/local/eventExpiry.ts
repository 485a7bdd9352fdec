/** Deletes events an hour after their last write, as API servers do. */
import { Kinds, type Event } from '../api/kinds.ts';
import type { Controller } from '../kube/runtime/controller.ts';
import { singleton } from '../kube/runtime/singleton.ts';
import type { ControlPlaneContext } from './controlLoop.ts';
import { remove } from './writes.ts';

const LIFETIME = 3_600_000;
const PERIOD = 120_000;

const writtenAt = ({ metadata, lastTimestamp, eventTime, series }: Event): number =>
  Math.max(
    ...[metadata.creationTimestamp, lastTimestamp, eventTime, series?.lastObservedTime].map(
      (time) => Date.parse(time ?? '') || 0,
    ),
  );

export function eventExpiryController({ kube, clock, random, log }: ControlPlaneContext): Controller {
  async function round(signal: AbortSignal): Promise<void> {
    const oldest = clock.now() - LIFETIME;
    for (const event of (await kube.list(Kinds.Event, { signal })).items) {
      if (writtenAt(event) < oldest) await remove(kube, Kinds.Event, event);
    }
  }
  return singleton({ name: 'local.eventexpiry', clock, random, log, interval: PERIOD, reconcile: round });
}
