/** Turns manifests and a catalogue into the solver's problem with an empty cluster, and notes the assumptions made. */
import type { AksNodeClass } from '../api/kinds/aksNodeClass.ts';
import type { NodePool } from '../api/kinds/nodePool.ts';
import { bundledInstanceTypes } from '../catalogue/bundledCatalogue.ts';
import type { InstanceType } from '../cloud/instanceType.ts';
import type { PlanNote } from '../ledger/planNote.ts';
import type { Problem } from '../solver/problem.ts';
import { DEFAULT_NODE_CLASS, DEFAULT_NODE_POOL } from './defaultPool.ts';
import type { PlanInput } from './readManifests.ts';

export interface PlanCatalogue {
  readonly region: string;
  /** Used instead of the bundled ones. */
  readonly instanceTypes?: readonly InstanceType[];
}

export interface PlanProblem {
  readonly problem: Problem;
  readonly notes: readonly PlanNote[];
}

export function planProblem(input: PlanInput, catalogue: PlanCatalogue): PlanProblem {
  const notes: PlanNote[] = [...input.notes];
  const dynamic = input.pools.filter(({ spec }) => spec.replicas === undefined);
  for (const { metadata } of input.pools.filter(({ spec }) => spec.replicas !== undefined)) {
    notes.push({ kind: 'fixed-pool', pool: metadata.name });
  }
  if (input.pools.length === 0) notes.push({ kind: 'no-pool' });
  const pools = input.pools.length === 0 ? [DEFAULT_NODE_POOL] : dynamic;
  const kept = new Map<AksNodeClass, readonly InstanceType[]>();
  const typesOf = (pool: NodePool): readonly InstanceType[] => {
    if (catalogue.instanceTypes !== undefined) return catalogue.instanceTypes;
    const nodeClass = classOf(pool, input, notes);
    const known = kept.get(nodeClass) ?? bundledInstanceTypes({ region: catalogue.region, nodeClass });
    kept.set(nodeClass, known);
    return known;
  };
  return {
    notes,
    problem: {
      pods: input.pods,
      daemons: input.daemons,
      nodes: [],
      pools: pools.map((pool) => ({ pool, instanceTypes: typesOf(pool), used: {} })),
      namespaces: input.namespaces,
    },
  };
}

function classOf(pool: NodePool, { classes, pools }: PlanInput, notes: PlanNote[]): AksNodeClass {
  const { name } = pool.spec.template.spec.nodeClassRef;
  const found = classes.find(({ metadata }) => metadata.name === name);
  if (found === undefined) {
    if (pools.length > 0 && name !== DEFAULT_NODE_CLASS.metadata.name) {
      notes.push({ kind: 'no-node-class', pool: pool.metadata.name, nodeClass: name });
    }
    return DEFAULT_NODE_CLASS;
  }
  // Preferred depends on the cluster's version, which is unknown here; Required does not.
  if (found.spec?.localDNS?.mode !== 'Required' || found.status?.localDNSState !== undefined) return found;
  return { ...found, status: { ...found.status, localDNSState: 'Enabled' } };
}
