/**
 * Spare nodes for a scheduler without hints. It fills the planned nodes by its own scores, so that later pods may not
 * fit. These pods are estimated by filling the nodes in the same way; nodes for them are bought at once instead of in a
 * second round. Ignores pods on existing nodes and rules between pods.
 */
import type { Pod } from '../../api/kinds.ts';
import { WELL_KNOWN_LABELS } from '../../api/labels.ts';
import { requirementTerms } from '../../constraints/podRequirements.ts';
import { Requirements } from '../../constraints/requirements.ts';
import { roomScore, shareUsed } from '../../pods/nodeScore.ts';
import { podKey } from '../../pods/podKey.ts';
import { podRequests } from '../../pods/podRequests.ts';
import type { PlannedNode, PoolOffer } from '../../solver/problem.ts';
import {
  addResources,
  fits,
  parseResources,
  quantityOf,
  subtractResources,
  type Resources,
} from '../../units/resources.ts';

/** More nodes make the scheduler spread pods more, so the estimate is repeated with the spare nodes included. */
const TURNS = 3;
/** Limit on pods × nodes; larger plans get no spare nodes. */
const MAX_PAIRS = 200_000;

interface Room {
  readonly pool: string;
  readonly requirements: Requirements;
  readonly allocatable: Resources;
  used: Resources;
}

/** `planFor` plans new nodes for pods, as if no other node had room. */
export function spareNodes(
  planned: readonly PlannedNode[],
  pods: readonly Pod[],
  offers: readonly PoolOffer[],
  planFor: (pods: readonly Pod[]) => readonly PlannedNode[],
): readonly PlannedNode[] {
  const queue = [...pods].sort(inQueueOrder);
  let spare: readonly PlannedNode[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    const nodes = [...planned, ...spare];
    if (pods.length * nodes.length > MAX_PAIRS) return spare;
    const left = fillAsScheduler(queue, roomsOf(nodes, queue, offers));
    if (left.length === 0) return spare;
    // A pool with limits keeps its room for waiting pods.
    const more = planFor(left).filter(({ pool }) => !hasLimits(offers, pool));
    if (more.length === 0) return spare;
    spare = [...spare, ...more.map((node) => ({ ...node, pods: [] }))];
  }
  return spare;
}

function inQueueOrder(left: Pod, right: Pod): number {
  const priority = (right.spec?.priority ?? 0) - (left.spec?.priority ?? 0);
  if (priority !== 0) return priority;
  const [one, other] = [left, right].map((pod) => `${pod.metadata.creationTimestamp ?? ''} ${podKey(pod)}`);
  return (one ?? '') < (other ?? '') ? -1 : 1;
}

const hasLimits = (offers: readonly PoolOffer[], name: string): boolean =>
  offers.some(({ pool }) => pool.metadata.name === name && Object.keys(pool.spec.limits ?? {}).length > 0);

/** The planned nodes with their daemons, as they join. */
function roomsOf(nodes: readonly PlannedNode[], pods: readonly Pod[], offers: readonly PoolOffer[]): Room[] {
  const requestsOf = new Map(pods.map((pod) => [podKey(pod), podRequests(pod)]));
  return nodes.flatMap(({ pool, requirements, alternatives, requests, pods: own }) => {
    const offer = offers.find((each) => each.pool.metadata.name === pool);
    const type = offer?.instanceTypes.find(({ name }) => name === alternatives[0]?.instanceType);
    if (type === undefined) return [];
    const asked = addResources(...own.map((key) => requestsOf.get(key) ?? {}));
    // The planned pods of a spare node are not known one by one, and its daemons are few.
    const used = own.length === 0 ? {} : subtractResources(parseResources(requests), asked);
    return [{ pool, requirements: Requirements.fromItems(requirements), allocatable: type.allocatable, used }];
  });
}

/** The pods that do not fit when each goes to the node with the scheduler's highest score. */
function fillAsScheduler(queue: readonly Pod[], rooms: readonly Room[]): Pod[] {
  return queue.filter((pod) => {
    const asked = podRequests(pod);
    const terms = requirementTerms(pod);
    let best: Room | undefined;
    let bestScore = Number.NEGATIVE_INFINITY;
    for (const room of rooms) {
      if (!fits(asked, subtractResources(room.allocatable, room.used))) continue;
      if (!terms.some((term) => room.requirements.isCompatible(term, WELL_KNOWN_LABELS))) continue;
      const score = scoreOn(room, asked);
      if (score <= bestScore) continue;
      best = room;
      bestScore = score;
    }
    if (best === undefined) return true;
    best.used = addResources(best.used, asked);
    return false;
  });
}

function scoreOn({ used, allocatable }: Room, asked: Resources): number {
  const share = (name: string): number => {
    const amount = (of: Resources): number => quantityOf(of, name).milliValue();
    return shareUsed(amount(used), amount(asked), amount(allocatable));
  };
  return roomScore({ cpu: share('cpu'), memory: share('memory') });
}
