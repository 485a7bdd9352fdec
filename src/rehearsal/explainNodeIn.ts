/** Asks a rehearsal about one node: its outcome in the next pass, and what would change it. */
import { Kinds } from '../api/kinds.ts';
import { Labels } from '../api/labels.ts';
import { apiVersionOf } from '../api/object.ts';
import type { NodeView } from '../cluster/nodeView.ts';
import { explainNode } from '../explain/explainNode.ts';
import type { NodeOutcome } from '../explain/nodeFixes.ts';
import { nodeWorkloads, type Workload } from '../explain/nodeWorkloads.ts';
import type { NodePicture } from '../explain/proposal.ts';
import type { Kube } from '../kube/kube.ts';
import type { Explanation, ObjectName } from '../ledger/explanation.ts';
import { unexplainedText } from '../ledger/explanationText.ts';
import type { NodeFate } from '../ledger/nodeFateText.ts';
import type { Asked } from '../solver/smallestChange.ts';
import { applyPatches } from './applyPatches.ts';
import { carryOut } from './carryOut.ts';
import { homelessPods, withHeldDrain } from './heldDrain.ts';
import { fateOf } from './judge.ts';
import { nextStep, WAVE } from './nextStep.ts';
import { nodeFactsOf } from './nodeFactsOf.ts';
import { rehearse, type Rehearsal, type RehearsalOptions } from './rehearse.ts';

export type NodeRef = { readonly kind: 'node' | 'nodeclaim'; readonly name: string };

/** Undefined when there is no such node. */
export async function explainNodeIn(
  rehearsal: Rehearsal,
  ref: NodeRef,
  options: Omit<RehearsalOptions, 'objects' | 'changedPools'>,
  /** To read the owners of pods. */
  kube: Kube,
): Promise<Explanation | undefined> {
  const view = findView(rehearsal, ref);
  if (view !== undefined && view.claim === undefined) return notOurs(ref);
  const claim = view?.claim?.metadata.name;
  const judged = claim === undefined ? undefined : fateOf(claim, rehearsal);
  if (view === undefined || claim === undefined || judged === undefined) return undefined;
  const workloads = await nodeWorkloads(kube, view.pods, allPods(rehearsal));
  return explainNode({
    object: objectOf(ref),
    outcome: outcomeOf(rehearsal, view, judged, workloads),
    facts: nodeFactsOf(rehearsal, view),
    rehearse: async (patches) => {
      const changed = applyPatches(rehearsal.objects, patches);
      const judge = async (calm: 'unknown' | 'brief'): Promise<NodeOutcome | undefined> => {
        const how = { ...options, calm };
        const after = await whenItsTurnComes(claim, await rehearse({ ...how, ...changed }), how);
        const again = findView(after, { kind: 'nodeclaim', name: claim });
        const next = again && fateOf(claim, after);
        return again && next && outcomeOf(after, again, next, workloads);
      };
      const outcome = await judge('unknown');
      if (outcome?.fate.kind !== 'goes' || outcome.fate.reason !== 'Underutilized') return outcome;
      const sure = await judge('brief');
      return sure?.fate.kind === 'kept' ? { ...sure, isLikelyToGo: true } : sure;
    },
  });
}

function notOurs(ref: NodeRef): Explanation {
  const sentence = unexplainedText({ kind: 'agent-pool' });
  return { object: objectOf(ref), sentence, constraint: 'not-managed', evidence: [], fixes: [] };
}

/** Limit on simulated steps for other nodes. */
const MOST_STEPS = 3;

/** Nodes removed earlier may take the room for its pods: evaluates it after they are gone. */
async function whenItsTurnComes(
  claim: string,
  rehearsal: Rehearsal,
  options: Omit<RehearsalOptions, 'objects' | 'changedPools'>,
): Promise<Rehearsal> {
  let now = rehearsal;
  for (let step = 1; step <= MOST_STEPS; step++) {
    const fate = fateOf(claim, now);
    if (fate?.kind !== 'kept' || fate.kept.cause.kind !== 'next-pass') break;
    const next = nextStep(now, 0);
    if (next === undefined) break;
    const objects = carryOut(now.objects, next.step, now.pass.pools, `step-${step}`);
    const changedPools = new Set(now.pass.pools.keys());
    now = await rehearse({ ...options, objects: { ...objects, time: objects.time + WAVE }, changedPools });
  }
  return now;
}

function findView({ pass }: Rehearsal, { kind, name }: NodeRef): NodeView | undefined {
  return pass.views.find(({ node, claim }) => (kind === 'node' ? node : claim)?.metadata.name === name);
}

const allPods = ({ pass }: Rehearsal) => pass.views.flatMap(({ pods }) => pods);

function objectOf({ kind, name }: NodeRef): ObjectName {
  const described = kind === 'node' ? Kinds.Node : Kinds.NodeClaim;
  return { apiVersion: apiVersionOf(described), kind: described.kind, name };
}

function outcomeOf(
  rehearsal: Rehearsal,
  view: NodeView,
  judged: NodeFate,
  workloads: readonly Workload[],
): NodeOutcome {
  const { pass, world } = rehearsal;
  const name = view.claim?.metadata.labels?.[Labels.nodePool] ?? view.nodePool ?? '';
  const picture: NodePicture = {
    now: pass.now,
    view,
    pool: pass.pools.get(name)?.pool,
    poolBudget: pass.budgets.of(name),
    poolNodes: pass.views.filter(({ nodePool, claim, deleting }) => nodePool === name && claim && !deleting).length,
    podBudgets: [...world.informers.disruptionBudgets.store.list()],
    workloads,
    homeless: homelessPods(judged, view, rehearsal),
    asked: askedWithout(rehearsal, view),
  };
  return { fate: withHeldDrain(judged, view, rehearsal), picture };
}

/** The question where the node's pods would go without it; asked when the answer is read. */
function askedWithout({ moment, pass }: Rehearsal, { name }: NodeView): Asked {
  const own = pass.candidates.find(({ view }) => view.name === name);
  const closedNodes = new Set(pass.views.filter(({ initialized }) => !initialized).map((each) => each.name));
  const overlay = { pods: own?.movable ?? [], withoutNodes: new Set([name]), closedNodes };
  const options = { searchRounds: 0, reservedCapacity: 'Fallback' } as const;
  return {
    pools: moment.offers,
    overlay,
    options,
    get solution() {
      return moment.ask(overlay, options);
    },
    ask: (again, how, pools) => moment.ask(again, how, pools),
  };
}
