/**
 * The proof of `plan`: compares its prediction of a change with the real result under a running controller, node for
 * node.
 */
import { isDeepStrictEqual } from 'node:util';
import { NodeClaimConditions } from '../../src/api/conditionTypes.ts';
import { findCondition } from '../../src/api/conditions.ts';
import { Kinds, type Node } from '../../src/api/kinds.ts';
import { Labels } from '../../src/api/labels.ts';
import { readCluster } from '../../src/cli/compose/clusterSource.ts';
import { SeededRandom } from '../../src/clock/seededRandom.ts';
import type { ChangeReport } from '../../src/ledger/changeReport.ts';
import { readManifests } from '../../src/plan/readManifests.ts';
import { applyManifests } from '../../src/rehearsal/applyManifests.ts';
import { rehearseChange } from '../../src/rehearsal/rehearseChange.ts';
import { ProvingGround } from '../fixtures/explain/provingGround.ts';
import { drawFrom } from '../fixtures/explain/randomGround.ts';
import { make, randomChange, settleable, type Change } from './changes.ts';

const MINUTE = 60_000;
/** Milliseconds without a change after which a cluster is at rest, and how long that may take. */
const REST = 20 * MINUTE;
/** Seconds after which all nodes that drift are marked. */
const NOTICED = 15;
const PATIENCE = 12 * 60 * MINUTE;

/** The comparable part: of new nodes, only what a plan can know. */
interface Outcome {
  readonly drifting: readonly string[];
  readonly removed: readonly string[];
  /** `pool type`. */
  readonly added: readonly string[];
  readonly waiting: number;
  readonly evictions: number;
  readonly dollarsPerHour: string;
}

export interface PlanVerdict {
  readonly change: string;
  readonly planned: Outcome;
  readonly happened: Outcome;
}

export const isRight = ({ planned, happened }: PlanVerdict): boolean => isDeepStrictEqual(planned, happened);

export async function proveChange(seed: string): Promise<PlanVerdict> {
  const ground = await ProvingGround.start(seed);
  try {
    const draw = drawFrom(new SeededRandom(`change ${seed}`));
    await settleable(ground.kube, draw);
    await rest(ground);
    const change = await randomChange(ground.kube, draw);
    const before = await ownNodes(ground);
    const evictedBefore = ground.evictions;
    const planned = ofReport(await plan(ground, change));
    await make(ground.kube, change);
    const drifting = await driftedSince(ground, before);
    await rest(ground);
    const evictions = ground.evictions - evictedBefore;
    return { change: change.title, planned, happened: { ...(await happened(ground, before, drifting)), evictions } };
  } finally {
    await ground.stop();
  }
}

async function plan(ground: ProvingGround, change: Change): Promise<ChangeReport> {
  const catalogue = { region: 'eastus', instanceTypes: ground.cloud.types };
  const { objects, cloud } = await readCluster(ground.kube, catalogue, { now: ground.simulation.clock.now() });
  return rehearseChange(objects, applyManifests(objects, manifestsOf(change)), { cloud });
}

function manifestsOf(change: Change): ReturnType<typeof readManifests> {
  const typed =
    change.kind === 'deployment'
      ? { apiVersion: 'apps/v1', kind: 'Deployment', ...change.deployment }
      : change.kind === 'budget'
        ? { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', ...change.budget }
        : undefined;
  const input = readManifests(typed === undefined ? [] : [{ source: 'change', text: JSON.stringify(typed) }]);
  // Pools of this cloud are none of Azure's, which is all that manifests are read for.
  return change.kind === 'pool' ? { ...input, pools: [change.pool] } : input;
}

async function rest(ground: ProvingGround): Promise<void> {
  let seen = '';
  for (let [still, waited] = [0, 0]; still < REST && waited < PATIENCE; waited += 5 * MINUTE) {
    await ground.advance(5 * MINUTE);
    const now = (await ownNodes(ground)).map(({ metadata }) => metadata.name).join();
    still = now === seen ? still + 5 * MINUTE : 0;
    seen = now;
  }
}

async function ownNodes(ground: ProvingGround): Promise<readonly Node[]> {
  const own = (await ground.nodes()).filter(({ metadata }) => metadata.labels?.[Labels.nodePool] !== undefined);
  return own.sort((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1));
}

/** Names of nodes that drift from now on. A node may be gone seconds after that. */
async function driftedSince(ground: ProvingGround, before: readonly Node[]): Promise<readonly string[]> {
  const drifted = new Set<string>();
  for (let second = 0; second < NOTICED; second++) {
    await ground.advance(1_000);
    for (const claim of (await ground.kube.list(Kinds.NodeClaim)).items) {
      const isDrifted = findCondition(claim, NodeClaimConditions.drifted)?.status === 'True';
      if (isDrifted && claim.status?.nodeName !== undefined) drifted.add(claim.status.nodeName);
    }
  }
  return before.map(({ metadata }) => metadata.name).filter((name) => drifted.has(name));
}

async function happened(
  ground: ProvingGround,
  before: readonly Node[],
  drifting: readonly string[],
): Promise<Omit<Outcome, 'evictions'>> {
  const after = await ownNodes(ground);
  const names = (nodes: readonly Node[]): Set<string> => new Set(nodes.map(({ metadata }) => metadata.name));
  const [old, left] = [names(before), names(after)];
  const typeOf = ({ metadata }: Node): string => metadata.labels?.[Labels.instanceType] ?? '';
  const prices = new Map(ground.cloud.types.map(({ name, offerings: [first] }) => [name, first?.price ?? 0]));
  const dollars = after.reduce((sum, node) => sum + (prices.get(typeOf(node)) ?? 0), 0);
  return {
    drifting,
    removed: [...old].filter((name) => !left.has(name)),
    added: after
      .filter(({ metadata }) => !old.has(metadata.name))
      .map((node) => `${node.metadata.labels?.[Labels.nodePool]} ${typeOf(node)}`)
      .sort(),
    waiting: (await ground.pods()).filter(({ spec }) => !spec?.nodeName).length,
    dollarsPerHour: dollars.toFixed(4),
  };
}

function ofReport({ drifting, removed, added, unplaced, evictions, after }: ChangeReport): Outcome {
  return {
    drifting: drifting.map(({ node }) => node).sort(),
    removed: [...removed].sort(),
    added: added.map(({ nodePool, instanceType }) => `${nodePool} ${instanceType}`).sort(),
    waiting: unplaced.length,
    evictions,
    dollarsPerHour: after.pricePerHour.toFixed(4),
  };
}
