/** Closes NodePools when nodewright is disabled, and opens them again when it is enabled. */
import { Kinds } from '../api/kinds.ts';
import type { NodePool } from '../api/kinds/nodePool.ts';
import { isNotFound } from '../kube/errors.ts';
import type { Kube } from '../kube/kube.ts';
import type { Step } from './step.ts';

const TAINT = { key: 'karpenter.azure.com/disable', effect: 'NoSchedule' } as const;
/** Annotation with a pool's settings from before it was closed. */
const BEFORE = 'nodewright.dev/before-disable';

interface Before {
  readonly limits?: NodePool['spec']['limits'];
  readonly replicas?: number;
}

/** Empty when the CRDs are not installed. */
export async function poolsOf(kube: Kube): Promise<readonly NodePool[]> {
  try {
    return (await kube.list(Kinds.NodePool)).items;
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}

async function write(kube: Kube, { metadata }: NodePool, body: object): Promise<void> {
  await kube.patch(Kinds.NodePool, { name: metadata.name }, { type: 'merge', body });
}

/** A static pool is closed by zero replicas, because it cannot have a cpu limit. */
const isClosed = ({ spec }: NodePool): boolean =>
  spec.replicas === undefined ? String(spec.limits?.['cpu'] ?? '') === '0' : spec.replicas === 0;

export function limitsStep(kube: Kube): Step {
  return {
    name: 'limits',
    what: 'set limits.cpu of every NodePool to 0, so that no node is bought any more',
    isDone: async () => (await poolsOf(kube)).every(isClosed),
    run: async () => {
      for (const pool of (await poolsOf(kube)).filter((each) => !isClosed(each))) {
        const { limits, replicas } = pool.spec;
        const before: Before = { ...(limits && { limits }), ...(replicas !== undefined && { replicas }) };
        await write(kube, pool, {
          metadata: { annotations: { [BEFORE]: JSON.stringify(before) } },
          spec: replicas === undefined ? { limits: { cpu: '0' } } : { replicas: 0 },
        });
      }
    },
  };
}

const isTainted = ({ spec }: NodePool): boolean =>
  spec.template.spec.taints?.some(({ key }) => key === TAINT.key) ?? false;

/** Makes nodes drift, so that they are drained within the budgets of pools and workloads. */
export function taintStep(kube: Kube): Step {
  return {
    name: 'taint',
    what: `taint every NodePool with ${TAINT.key}:${TAINT.effect}, so that its nodes drift and drain`,
    isDone: async () => (await poolsOf(kube)).every(isTainted),
    run: async () => {
      for (const pool of (await poolsOf(kube)).filter((each) => !isTainted(each))) {
        const taints = [...(pool.spec.template.spec.taints ?? []), TAINT];
        await write(kube, pool, { spec: { template: { spec: { taints } } } });
      }
    },
  };
}

/** Pools closed by hand stay closed. */
export function reopenStep(kube: Kube): Step {
  const closed = async (): Promise<readonly NodePool[]> =>
    (await poolsOf(kube)).filter(({ metadata }) => metadata.annotations?.[BEFORE] !== undefined);
  return {
    name: 'reopen',
    what: 'give NodePools that were closed their limits back',
    isDone: async () => (await closed()).length === 0,
    run: async () => {
      for (const pool of await closed()) {
        const { limits, replicas } = JSON.parse(pool.metadata.annotations?.[BEFORE] ?? '{}') as Before;
        const taints = pool.spec.template.spec.taints?.filter(({ key }) => key !== TAINT.key) ?? [];
        await write(kube, pool, {
          metadata: { annotations: { [BEFORE]: null } },
          spec: {
            ...(replicas === undefined
              ? { limits: limits === undefined ? null : { cpu: null, ...limits } }
              : { replicas }),
            template: { spec: { taints: taints.length === 0 ? null : taints } },
          },
        });
      }
    },
  };
}
