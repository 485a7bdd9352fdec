import { podKey } from '../../pods/podKey.ts';
import type { Pod } from '../../api/kinds.ts';
import { Labels } from '../../api/labels.ts';
import type { Random } from '../../clock/random.ts';
import { strictPodRequirements } from '../../constraints/podRequirements.ts';
import type { PodVolumes } from '../../constraints/volumes.ts';
import type { Gauge, MetricsRegistry } from '../../kube/metrics.ts';

/** Metrics about waiting pods. Values of a pass remain until the next one. */
export class Backlog {
  private readonly random: Random;
  private readonly queueDepth: Gauge;
  private readonly byZone: Gauge;
  private shown: readonly { readonly gauge: Gauge; readonly labels: Readonly<Record<string, string>> }[] = [];

  constructor(metrics: MetricsRegistry, random: Random) {
    this.random = random;
    this.queueDepth = metrics.gauge({
      name: 'karpenter_scheduler_queue_depth',
      help: 'Pods that the last pass left without a node.',
      labels: ['controller', 'scheduling_id'],
    });
    // A pass is one step here, so this is always complete; the name is kept for dashboards.
    metrics.gauge({
      name: 'karpenter_scheduler_unfinished_work_seconds',
      help: 'Seconds since the pass under way began.',
      labels: ['controller', 'scheduling_id'],
    });
    this.byZone = metrics.gauge({
      name: 'karpenter_scheduler_pending_pods_by_effective_zone_count',
      help: 'Pending pods of the last pass by the zone that they need: one zone, flexible (several) or none.',
      labels: ['controller', 'zone'],
    });
  }

  show(unplaced: number, byZone: ReadonlyMap<string, number>): void {
    for (const { gauge, labels } of this.shown) gauge.delete(labels);
    const controller = 'provisioner';
    const next = [
      { gauge: this.queueDepth, labels: { controller, scheduling_id: this.random.uuid() }, value: unplaced },
      ...[...byZone].map(([zone, value]) => ({ gauge: this.byZone, labels: { controller, zone }, value })),
    ];
    for (const { gauge, labels, value } of next) gauge.set(labels, value);
    this.shown = next;
  }
}

/** Number of pods that can run in only one zone, in several (`flexible`) or in none (`none`). */
export function effectiveZones(
  pods: readonly Pod[],
  volumes: Pick<ReadonlyMap<string, PodVolumes>, 'get'>,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const pod of pods) {
    if (pod.status?.phase !== 'Pending') continue;
    const zone = effectiveZone(pod, volumes.get(podKey(pod)));
    counts.set(zone, (counts.get(zone) ?? 0) + 1);
  }
  return counts;
}

function effectiveZone(pod: Pod, volumes: PodVolumes | undefined): string {
  const own = strictPodRequirements(pod);
  const alternatives = volumes?.alternatives ?? [];
  const zones = new Set<string>();
  let open = alternatives.length === 0 && own.get(Labels.zone).complement;
  for (const requirements of alternatives.length === 0 ? [own] : alternatives.map((each) => own.merge(each))) {
    const wanted = requirements.get(Labels.zone);
    if (wanted.complement) open = true;
    else for (const value of wanted.values) if (wanted.has(value)) zones.add(value);
  }
  if (open || zones.size > 1) return 'flexible';
  return [...zones][0] ?? 'none';
}
