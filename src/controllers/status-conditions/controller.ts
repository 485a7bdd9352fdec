import type { Condition, KubeObject, ResourceKind } from '../../api/object.ts';
import type { Informer, InformerEvent } from '../../kube/informer.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { aborted } from '../../kube/runtime/windDown.ts';
import type { World } from '../world.ts';
import { conditionChanged, finalized } from './events.ts';
import { conditionMetrics } from './metrics.ts';

/**
 * Tells and counts how the conditions of a kind change: an event on the object for each turn of a condition, and how
 * long the state before had lasted. Nothing is written but events, and what was so before we came is no turn.
 */
export function statusConditionsController<T extends KubeObject>(
  world: World,
  kind: ResourceKind<T>,
  informer: Informer<T>,
): Controller {
  const { events, clock } = world;
  const metrics = conditionMetrics(world.metrics, kind.kind.toLowerCase());

  function observe(event: InformerEvent<T>): void {
    if (event.type === 'deleted') {
      const { deletionTimestamp } = event.object.metadata;
      if (deletionTimestamp) metrics.termination.observe({}, (clock.now() - Date.parse(deletionTimestamp)) / 1000);
      return;
    }
    if (event.type !== 'updated') return;
    const { old, object } = event;
    const gone = (old.metadata.finalizers ?? []).filter((name) => !object.metadata.finalizers?.includes(name));
    for (const finalizer of gone) finalized(events, kind, object, finalizer);
    const before = new Map(conditionsOf(old).map((condition) => [condition.type, condition]));
    for (const condition of conditionsOf(object)) {
      const { type, status, reason = '' } = condition;
      const known = before.get(type);
      if (known?.status === status) continue;
      metrics.transitions.inc({ type, status, reason });
      if (!known) continue;
      const lasted = Date.parse(condition.lastTransitionTime) - Date.parse(known.lastTransitionTime);
      metrics.transitionSeconds.observe({ type, status }, Math.max(0, lasted) / 1000);
      conditionChanged(events, kind, object, known.status, condition);
    }
  }

  return {
    name: `${kind.kind.toLowerCase()}.status`,
    run: async (signal) => {
      const stop = informer.subscribe(observe);
      await aborted(signal);
      stop();
    },
  };
}

function conditionsOf(object: KubeObject): readonly Condition[] {
  const { status } = object as { status?: { conditions?: readonly Condition[] } };
  return status?.conditions ?? [];
}
