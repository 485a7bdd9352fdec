/**
 * Scales down, in waves of some nodes at a time, the node pools that the cluster autoscaler scaled. AKS drains the
 * nodes of a wave; the next one starts when no more pods wait than before. The original pool settings are stored in the
 * cluster, so that running the command again continues, and every wave can be undone.
 */
import { Kinds, type Pod } from '../api/kinds.ts';
import type { Clock } from '../clock/clock.ts';
import { NodewrightError } from '../errors/nodewrightError.ts';
import { ignoreNotFound } from '../kube/errors.ts';
import type { Kube } from '../kube/kube.ts';
import { ApiVersions, type ArmPort } from './armPort.ts';
import { poolsOf } from './closedPools.ts';
import type { AksContext } from './enable.ts';
import { clusterId, readCluster, type AgentPool, type ClusterName } from './managedCluster.ts';
import type { Step } from './step.ts';

export interface WaveOptions {
  /** Names of agent pools; empty: those that the cluster autoscaler scales or scaled. */
  readonly pools: readonly string[];
  readonly nodesPerWave: number;
  /** Number of waves to run or undo. */
  readonly waves: number;
  /** Milliseconds for displaced pods to find a place. */
  readonly timeout: number;
}

interface Before {
  readonly count: number;
  readonly enableAutoScaling: boolean;
  readonly minCount?: number;
  readonly maxCount?: number;
}

interface Wave {
  readonly pool: string;
  readonly from: number;
  readonly to: number;
  /** Whether its displaced pods have places. */
  readonly isOver: boolean;
  /** Number of pods waiting before it began: as many may wait afterwards. */
  readonly waiting?: number;
}

/** Progress of a cluster. */
export interface WaveRecord {
  readonly pools: Readonly<Record<string, Before>>;
  readonly waves: readonly Wave[];
}

const REF = { namespace: 'kube-system', name: 'nodewright-agent-pool-waves' };
const FIELD_MANAGER = 'nodewright-migrate';
const LOOK_AGAIN = 2_000;
const NOTHING: WaveRecord = { pools: {}, waves: [] };

export async function readWaves(kube: Kube): Promise<WaveRecord> {
  const found = await ignoreNotFound(kube.get(Kinds.ConfigMap, REF));
  return found === undefined ? NOTHING : (JSON.parse(found.data?.['record'] ?? '{}') as WaveRecord);
}

async function writeWaves(kube: Kube, record: WaveRecord): Promise<void> {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: REF, data: { record: JSON.stringify(record) } };
  await kube.patch(Kinds.ConfigMap, REF, { type: 'apply', body }, { fieldManager: FIELD_MANAGER, force: true });
}

/** The next waves as steps; an unfinished wave comes first. */
export async function waveSteps(context: AksContext, options: WaveOptions): Promise<readonly Step[]> {
  const { kube, arm, name } = context;
  await checkTaker(context);
  const record = await readWaves(kube);
  const pools = await chosen(arm, name, record, options);
  const { waves } = record;
  const begun = waves.filter(({ isOver }) => !isOver);
  const planned = nextWaves(pools, begun, options).slice(0, options.waves);
  const first = waves.length - begun.length;
  return [
    recordStep(kube, pools),
    ...pools.map((pool) => autoscalerStep(context, pool.name)),
    ...planned.map((wave, index) => waveStep(context, wave, first + index, options.timeout)),
  ];
}

/**
 * Undoes the last waves, newest first; undoing the first wave also restores the pools' autoscaler. If everything is
 * already restored, that last step counts as done, so the command can be repeated.
 */
export async function backSteps(context: AksContext, { waves: most }: WaveOptions): Promise<readonly Step[]> {
  const { kube } = context;
  const record = await readWaves(kube);
  const last = record.waves.map((wave, index) => ({ wave, index })).toReversed();
  const steps = last.slice(0, most).map(({ wave, index }) => backStep(context, wave, index));
  return most < record.waves.length ? steps : [...steps, restoreStep(context, record)];
}

/** Without other nodes, pods would stay waiting. */
async function checkTaker({ kube, arm, name }: AksContext): Promise<void> {
  const { properties } = await readCluster(arm, name);
  const deployments = await Promise.all(
    ['nodewright', 'karpenter'].map((each) =>
      ignoreNotFound(kube.get(Kinds.Deployment, { name: each, namespace: REF.namespace })),
    ),
  );
  const runs =
    properties.nodeProvisioningProfile?.mode === 'Auto' ||
    deployments.some((deployment) => (deployment?.status?.availableReplicas ?? 0) > 0);
  const isOpen = (await poolsOf(kube)).some(({ spec }) => String(spec.limits?.['cpu'] ?? '') !== '0');
  const problems = [
    ...(runs ? [] : ['node auto-provisioning is off, and no nodewright runs in the cluster']),
    ...(isOpen ? [] : ['no NodePool may buy nodes']),
  ];
  const remedy =
    'turn it on with `nodewright aks enable`, and apply what `nodewright migrate cluster-autoscaler` prints';
  if (problems.length > 0) throw new NodewrightError('ClusterUnfit', { problems, remedy });
}

async function chosen(
  arm: ArmPort,
  name: ClusterName,
  record: WaveRecord,
  { pools: wanted }: WaveOptions,
): Promise<readonly AgentPool[]> {
  const { agentPoolProfiles = [] } = (await readCluster(arm, name)).properties;
  const missing = wanted.filter(
    (each) => !agentPoolProfiles.some((pool) => pool.name === each && pool.mode === 'User'),
  );
  if (missing.length > 0) {
    throw new NodewrightError('NothingToMigrate', { what: `there is no user node pool ${missing.join(', ')}` });
  }
  const isChosen = (pool: AgentPool): boolean =>
    wanted.length > 0
      ? wanted.includes(pool.name)
      : record.pools[pool.name] !== undefined || pool.enableAutoScaling === true;
  const found = agentPoolProfiles.filter((pool) => pool.mode === 'User' && isChosen(pool));
  if (found.length > 0) return found;
  const what = 'the cluster autoscaler scales no user node pool; name the pools with --pool';
  throw new NodewrightError('NothingToMigrate', { what });
}

function nextWaves(
  pools: readonly AgentPool[],
  begun: readonly Wave[],
  { nodesPerWave }: WaveOptions,
): readonly Wave[] {
  const left = pools.flatMap(({ name, count = 0 }) => {
    const open = begun.find((wave) => wave.pool === name);
    const waves: Wave[] = [];
    for (let from = Math.min(count, open?.to ?? count); from > 0; from -= nodesPerWave) {
      waves.push({ pool: name, from, to: Math.max(0, from - nodesPerWave), isOver: false });
    }
    return waves;
  });
  return [...begun, ...left];
}

function recordStep(kube: Kube, pools: readonly AgentPool[]): Step {
  return {
    name: 'record',
    what: `keep how ${pools.map(({ name }) => name).join(', ')} are scaled, for the way back`,
    isDone: async () => {
      const { pools: kept } = await readWaves(kube);
      return pools.every(({ name }) => kept[name] !== undefined);
    },
    run: async () => {
      const record = await readWaves(kube);
      const now = Object.fromEntries(pools.map((pool) => [pool.name, beforeOf(pool)]));
      await writeWaves(kube, { ...record, pools: { ...now, ...record.pools } });
    },
  };
}

function beforeOf({ count = 0, enableAutoScaling = false, minCount, maxCount }: AgentPool): Before {
  return {
    count,
    enableAutoScaling,
    ...(minCount !== undefined && { minCount }),
    ...(maxCount !== undefined && { maxCount }),
  };
}

const poolId = (name: ClusterName, pool: string): string => `${clusterId(name)}/agentPools/${pool}`;

interface PoolBody {
  readonly properties: Readonly<Record<string, unknown>> & {
    readonly count?: number;
    readonly enableAutoScaling?: boolean;
  };
}

async function readPool({ arm, name }: AksContext, pool: string): Promise<PoolBody['properties'] | undefined> {
  return (await arm.get<PoolBody>(poolId(name, pool), ApiVersions.cluster))?.properties;
}

/** AKS replaces a pool as a whole. Autoscaler counts are only allowed with the autoscaler enabled. */
async function changePool(context: AksContext, pool: string, changes: object): Promise<void> {
  const current = await readPool(context, pool);
  if (current === undefined) throw new NodewrightError('NothingToMigrate', { what: `the node pool ${pool} is gone` });
  const { minCount: _least, maxCount: _most, ...properties } = current;
  const body = { properties: { ...properties, enableAutoScaling: false, ...changes } };
  await context.arm.put(poolId(context.name, pool), ApiVersions.cluster, body);
}

function autoscalerStep(context: AksContext, pool: string): Step {
  return {
    name: `autoscaler ${pool}`,
    what: `turn the cluster autoscaler off for the pool ${pool}; its nodes stay`,
    isDone: async () => (await readPool(context, pool))?.enableAutoScaling !== true,
    run: () => changePool(context, pool, {}),
  };
}

function waveStep(context: AksContext, wave: Wave, index: number, timeout: number): Step {
  const { kube, clock } = context;
  const { pool, from, to } = wave;
  const note = async (isOver: boolean, waiting: number): Promise<void> => {
    const record = await readWaves(kube);
    await writeWaves(kube, { ...record, waves: [...record.waves.slice(0, index), { ...wave, isOver, waiting }] });
  };
  return {
    name: `wave ${index + 1}`,
    what: `scale the pool ${pool} from ${from} to ${to} nodes, and wait until its pods run elsewhere`,
    isDone: async () => (await readWaves(kube)).waves[index]?.isOver === true,
    run: async () => {
      // Do not count pods displaced by an interrupted run as waiting before it.
      const waiting = wave.waiting ?? (await waitingPods(kube)).length;
      await note(false, waiting);
      await changePool(context, pool, { count: to });
      await placesFound(kube, clock, waiting, timeout);
      await note(true, waiting);
    },
    // Restores the nodes of pods that found no place.
    undo: async () => {
      await changePool(context, pool, { count: from });
      const record = await readWaves(kube);
      await writeWaves(kube, { ...record, waves: record.waves.slice(0, index) });
    },
  };
}

function backStep(context: AksContext, { pool, from }: Wave, index: number): Step {
  const { kube } = context;
  return {
    name: `back ${index + 1}`,
    what: `scale the pool ${pool} up to ${from} nodes again`,
    isDone: async () => (await readWaves(kube)).waves.length <= index,
    run: async () => {
      await changePool(context, pool, { count: from });
      const record = await readWaves(kube);
      await writeWaves(kube, { ...record, waves: record.waves.slice(0, index) });
    },
  };
}

function restoreStep(context: AksContext, { pools }: WaveRecord): Step {
  const { kube } = context;
  return {
    name: 'autoscaler',
    what: 'give the pools their cluster autoscaler back',
    isDone: async () => Object.keys((await readWaves(kube)).pools).length === 0,
    run: async () => {
      for (const [pool, before] of Object.entries(pools)) await changePool(context, pool, before);
      await ignoreNotFound(kube.delete(Kinds.ConfigMap, REF));
    },
  };
}

const isWaiting = ({ spec, status }: Pod): boolean =>
  status?.phase === 'Pending' && (spec?.nodeName ?? '') === '' && (spec?.schedulingGates ?? []).length === 0;

async function waitingPods(kube: Kube): Promise<readonly string[]> {
  const { items } = await kube.list(Kinds.Pod);
  return items.filter(isWaiting).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
}

async function placesFound(kube: Kube, clock: Clock, before: number, timeout: number): Promise<void> {
  const deadline = clock.now() + timeout;
  for (;;) {
    const pods = await waitingPods(kube);
    if (pods.length <= before) return;
    if (clock.now() >= deadline) throw new NodewrightError('PodsWait', { pods, seconds: timeout / 1000 });
    await clock.sleep(LOOK_AGAIN);
  }
}
