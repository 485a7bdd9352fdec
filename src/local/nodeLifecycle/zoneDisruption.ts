/**
 * The rate at which lost nodes of a zone are evicted: usually one every ten seconds; fewer if most of a large zone is
 * lost; none if most of a small zone or all zones are lost, because then the control plane is more likely at fault.
 */
const USUAL_GAP = 10_000;
const REDUCED_GAP = 100_000;
const LARGE_ZONE = 50;
const UNHEALTHY_SHARE = 0.55;
/** Up to this number of lost nodes, a zone with ready nodes is not disrupted. */
const FEW = 2;

export interface ZoneCount {
  ready: number;
  lost: number;
}

type ZoneState = 'normal' | 'partial' | 'full';

function stateOf({ ready, lost }: ZoneCount): ZoneState {
  if (ready === 0 && lost > 0) return 'full';
  return lost > FEW && lost / (ready + lost) >= UNHEALTHY_SHARE ? 'partial' : 'normal';
}

export class ZoneDisruption {
  private readonly lastAt = new Map<string, number>();

  /** Returns the milliseconds until a node of the zone may be evicted; 0 for now, which counts; undefined for none. */
  wait(zone: string, zones: ReadonlyMap<string, ZoneCount>, now: number): number | undefined {
    if ([...zones.values()].every((count) => stateOf(count) === 'full')) return undefined;
    const count = zones.get(zone) ?? { ready: 0, lost: 1 };
    const isPartial = stateOf(count) === 'partial';
    if (isPartial && count.ready + count.lost <= LARGE_ZONE) return undefined;
    const due = (this.lastAt.get(zone) ?? Number.NEGATIVE_INFINITY) + (isPartial ? REDUCED_GAP : USUAL_GAP);
    if (due > now) return due - now;
    this.lastAt.set(zone, now);
    return 0;
  }
}
