/**
 * Where money can be saved: the cost of candidates compared to the value of their pods, and the free room on other
 * nodes.
 */
import type { Pod } from '../api/kinds.ts';
import type { NodeView } from '../cluster/nodeView.ts';
import { subtractResources } from '../units/resources.ts';
import type { Candidate } from './candidate.ts';
import type { Pass } from './method.ts';
import { FreeRooms, loadOf, PodValues, sumOf, toLoad, type Load } from './podValues.ts';

export class Worth {
  private readonly values: PodValues;
  private readonly rooms: FreeRooms;
  private readonly known = new Map<Candidate, number>();
  private readonly free: ReadonlyMap<string, Load>;

  constructor(candidates: readonly Candidate[], pass: Pass) {
    const demand = sumOf(candidates.flatMap(({ movable }) => movable.map(loadOf)));
    this.values = new PodValues(pass.pools.values(), demand);
    const nodes = pass.views.filter(({ deleting }) => !deleting);
    this.free = new Map(nodes.map((view) => [view.name, freeRoom(view)]));
    this.rooms = new FreeRooms([...this.free].map(([name, free]) => ({ name, free })));
  }

  /** Dollars per hour: lower bound on new nodes for the candidate's pods. */
  of(candidate: Candidate): number {
    let value = this.known.get(candidate);
    if (value === undefined) this.known.set(candidate, (value = this.values.ofCandidate(candidate)));
    return value;
  }

  /** The pods' value as a share of the candidate's price. */
  share(candidate: Candidate): number {
    return candidate.pricePerHour > 0 ? this.of(candidate) / candidate.pricePerHour : 0;
  }

  /** Dollars per hour that the candidate costs beyond the value of its pods and of those coming to it. */
  wasteWith(candidate: Candidate, coming: readonly Pod[]): number {
    const worth = coming.reduce((sum, pod) => sum + this.values.of(loadOf(pod)), this.of(candidate));
    return candidate.pricePerHour - worth;
  }

  /** Least dollars per hour of new nodes when this candidate is removed: for pods that fit nowhere else. */
  leastReplacement({ movable, view }: Candidate): number {
    let sum = 0;
    for (const pod of movable) {
      const load = loadOf(pod);
      if (!this.rooms.mayHold(load, view.name)) sum += this.values.of(load);
    }
    return sum;
  }

  /** Most dollars per hour that could be saved by moving the pods of all of them, anywhere. */
  mostSavings(candidates: readonly Candidate[]): number {
    const own = new Set(candidates.map(({ view }) => view.name));
    const others = [...this.free].filter(([name]) => !own.has(name)).map(([, free]) => free);
    const price = candidates.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
    const worth = candidates.reduce((sum, candidate) => sum + this.of(candidate), 0);
    return price - Math.max(0, worth - this.values.of(sumOf(others)));
  }
}

const rooms = new WeakMap<NodeView, Load>();

/** Unrequested resources. Daemons not yet running may take some of it. */
function freeRoom(view: NodeView): Load {
  let room = rooms.get(view);
  if (room === undefined) {
    const [cpu, memory] = toLoad(subtractResources(view.allocatable, view.requested));
    rooms.set(view, (room = [Math.max(0, cpu), Math.max(0, memory)]));
  }
  return room;
}
