import type { Condition, KubeObject, ResourceKind } from '../../api/object.ts';
import type { InformerEvent } from '../../kube/informer.ts';
import type { Gauge } from '../../kube/metrics.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { keyOf } from '../../kube/runtime/watch.ts';
import { aborted } from '../../kube/runtime/windDown.ts';
import { SeriesKeeper, type Sample } from '../metrics/seriesKeeper.ts';
import type { EventSource } from '../world/clusterInformers.ts';
import type { World } from '../world/world.ts';
import { conditionChanged, finalized } from './events.ts';
import { conditionMetrics, type ConditionMetricsOptions } from './metrics.ts';

/**
 * Metrics of the conditions of a kind; for each transition an event on the object and the duration of the previous
 * state. Conditions that exist at process start are not transitions.
 */
export function statusConditionsController<T extends KubeObject>(
  world: World,
  kind: ResourceKind<T>,
  source: EventSource<T>,
  options: ConditionMetricsOptions = {},
): Controller {
  const { events, clock } = world;
  const metrics = conditionMetrics(world.metrics, kind, options);
  const series = new SeriesKeeper();
  /** By object: its last finalizer may be removed in the same event as the object. */
  const finalizers = new Map<string, readonly string[]>();

  function observe(event: InformerEvent<T>): void {
    const { object } = event;
    const key = keyOf(object);
    const left = event.type === 'deleted' ? [] : (object.metadata.finalizers ?? []);
    const gone = (finalizers.get(key) ?? []).filter((name) => !left.includes(name));
    for (const finalizer of gone) finalized(events, kind, object, finalizer);
    if (event.type === 'deleted') {
      series.remove(key);
      finalizers.delete(key);
      const { deletionTimestamp } = object.metadata;
      if (deletionTimestamp) metrics.termination.observe(metrics.own(object), secondsSince(deletionTimestamp));
      return;
    }
    finalizers.set(key, left);
    series.set(key, object, () => samples(object));
    if (event.type === 'updated') compare(event.old, object);
  }

  function compare(old: T, object: T): void {
    const before = new Map(conditionsOf(old).map((condition) => [condition.type, condition]));
    for (const condition of conditionsOf(object)) {
      const { type, status, reason = '' } = condition;
      const known = before.get(type);
      if (known?.status === status) continue;
      metrics.transitions.inc({ type, status, reason, ...metrics.own(object) });
      if (!known) continue;
      const lasted = Date.parse(condition.lastTransitionTime) - Date.parse(known.lastTransitionTime);
      const labels = { type, status: known.status, ...metrics.own(object) };
      metrics.transitionSeconds.observe(labels, Math.max(0, lasted) / 1000);
      conditionChanged(events, kind, object, known.status, condition);
    }
  }

  const secondsSince = (moment: string): number => (clock.now() - Date.parse(moment)) / 1000;

  function samples(object: T): readonly Sample[] {
    const { namespace = '', name, deletionTimestamp } = object.metadata;
    const identity = { namespace, name };
    const each = (gauges: readonly Gauge[], labels: Readonly<Record<string, string>>, since?: string): Sample[] =>
      gauges.map((gauge, at) => ({
        gauge,
        labels: metrics.gaugeLabels(at, object, labels),
        ...(since === undefined ? { value: 1 } : { value: Date.parse(since), since: true }),
      }));
    return [
      ...(deletionTimestamp ? each(metrics.terminatingSeconds, identity, deletionTimestamp) : []),
      ...conditionsOf(object).flatMap(({ type, status, reason = '', lastTransitionTime }) => {
        const labels = { ...identity, type, status, reason };
        return [...each(metrics.count, labels), ...each(metrics.currentSeconds, labels, lastTransitionTime)];
      }),
    ];
  }

  return {
    name: `${kind.kind.toLowerCase()}.status`,
    run: async (signal) => {
      const stop = source.subscribe(observe);
      await aborted(signal);
      stop();
    },
  };
}

function conditionsOf(object: KubeObject): readonly Condition[] {
  const { status } = object as { status?: { conditions?: readonly Condition[] } };
  return status?.conditions ?? [];
}
