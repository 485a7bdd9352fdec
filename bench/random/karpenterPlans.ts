/** Random problems, answered by Karpenter's scheduler: it gets the same objects, and its plans take the form of ours. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Pod } from '../../src/api/kinds.ts';
import type { NodePool } from '../../src/api/kinds/nodePool.ts';
import { podKey } from '../../src/pods/podKey.ts';
import type { RequirementItem } from '../../src/constraints/requirement.ts';
import type { PoolOffer, Problem, Solution } from '../../src/solver/problem.ts';
import { Quantity } from '../../src/units/quantity.ts';
import { nodeObject } from '../../test/fixtures/solver/launchedPlan.ts';
import { wireType } from '../peers/wireType.ts';

/** What Karpenter would do; pods are named by their `podKey`. */
interface KarpenterPlan {
  readonly claims: readonly KarpenterClaim[] | null;
  readonly existing: Readonly<Record<string, readonly string[]>> | null;
  readonly left: Readonly<Record<string, string>> | null;
  readonly failure?: string;
}

interface KarpenterClaim {
  readonly pool: string;
  readonly pods: readonly string[];
  readonly requirements: readonly RequirementItem[];
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: string;
  readonly price: number;
}

/** The plans in the order of the problems; a text where Karpenter failed. */
export async function karpenterPlans(
  program: string,
  problems: readonly Problem[],
): Promise<readonly (Solution | string)[]> {
  const child = spawn(program, ['problems'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout });
  const plans: (Solution | string)[] = [];
  lines.on('line', (line) => plans.push(solutionOf(JSON.parse(line) as KarpenterPlan)));
  const end = once(lines, 'close');
  for (const problem of problems) {
    if (!child.stdin.write(`${JSON.stringify(wireProblem(problem))}\n`)) {
      await once(child.stdin, 'drain');
    }
  }
  child.stdin.end();
  await end;
  return plans;
}

function solutionOf({ claims, existing, left, failure }: KarpenterPlan): Solution | string {
  if (failure !== undefined) return failure;
  const bought = claims ?? [];
  return {
    onExisting: Object.entries(existing ?? {}).map(([node, pods]) => ({ node, pods })),
    plannedNodes: bought.map(({ pool, pods, requirements, instanceType, zone, capacityType, price }) => ({
      pool,
      pods,
      requirements: requirements ?? [],
      requests: {},
      alternatives: [{ instanceType, zone, capacityType, pricePerHour: price }],
      minValuesRelaxed: true,
    })),
    unplaced: Object.keys(left ?? {}).map((pod) => ({ pod, reason: { kind: 'refused', pools: [], nodes: [] } })),
    pricePerHour: bought.reduce((sum, { price }) => sum + price, 0),
    lowerBound: { pricePerHour: 0, proof: 'none', gap: [] },
    searchRounds: 0,
  };
}

function wireProblem({ pools, nodes, daemons, pods, volumes, namespaces }: Problem): object {
  const asked = [...pods, ...nodes.flatMap((node) => node.pods)].map(podKey);
  return {
    pools: pools.map(wirePool),
    types: Object.fromEntries(
      pools.map(({ pool, instanceTypes }) => [pool.metadata.name, instanceTypes.map(wireType)]),
    ),
    namespaces: [...(namespaces ?? [])].map(([name, labels]) => ({ metadata: { name, labels } })),
    nodes: nodes.map((node) => nodeObject(node, daemons)),
    running: nodes.flatMap((node) => node.pods.map((pod) => wirePod(pod, node.name))),
    daemons: daemons.map((pod) => wirePod(pod)),
    pods: pods.map((pod) => wirePod(pod)),
    volumes: Object.fromEntries(
      asked.flatMap((key) => {
        const alternatives = volumes?.get(key)?.alternatives ?? [];
        return alternatives.length === 0 ? [] : [[key, alternatives.map((each) => each.toItems())]];
      }),
    ),
  };
}

function wirePod({ metadata, spec }: Pod, nodeName?: string): object {
  const { namespace = 'default', deletionTimestamp } = metadata;
  // The API server keeps a pod that is being deleted only while it has a finalizer or a grace period.
  const finalizers = deletionTimestamp === undefined ? {} : { finalizers: ['bench/leaving'] };
  return {
    metadata: { ...metadata, namespace, uid: podKey({ metadata }), ...finalizers },
    spec: { ...spec, ...(nodeName !== undefined && { nodeName }) },
    ...(nodeName !== undefined && { status: { phase: 'Running' } }),
  };
}

/** Karpenter counts a pool's usage from its nodes; here it is given what is left of the limits. */
function wirePool({ pool, used }: PoolOffer): NodePool {
  const { limits } = pool.spec;
  if (limits === undefined) return pool;
  const left = Object.entries(limits).map(([name, limit]) => {
    const rest = Quantity.parse(limit).subtract(used[name] ?? Quantity.zero);
    return [name, String(rest.sign() < 0 ? Quantity.zero : rest)];
  });
  return { ...pool, spec: { ...pool.spec, limits: Object.fromEntries(left) as Record<string, string> } };
}
