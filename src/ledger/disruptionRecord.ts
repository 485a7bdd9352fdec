/** Decisions about existing nodes, as plain data. */
import { podKey } from '../pods/podKey.ts';
import { decisionOf, type Command, type CommandDecision, type Replacement } from '../disruption/command.ts';
import type { SavingsBacklog } from '../disruption/backlog.ts';
import type { DriftProgress } from '../disruption/driftProgress.ts';
import type { Kept } from '../disruption/kept.ts';
import { podList, type PodList } from './podList.ts';

/** A node removed or added. */
interface NodeEntry {
  readonly nodePool: string;
  /** Absent for a node that is not bought yet. */
  readonly node?: string;
  readonly nodeClaim?: string;
  readonly instanceType?: string;
  readonly zone?: string;
  readonly capacityType?: string;
  readonly pricePerHour?: number;
}

/** A started command: removed nodes and their replacements. */
export interface DisruptionRecord {
  readonly kind: 'disruption';
  readonly command: string;
  readonly reason: string;
  readonly consolidationType: string;
  readonly decision: CommandDecision;
  /** The first few, and the total number. */
  readonly nodes: readonly NodeEntry[];
  readonly nodeCount: number;
  readonly replacements: readonly NodeEntry[];
  readonly replacementCount: number;
  readonly savingsPerHour: number;
  /** Pods that must move. */
  readonly pods: PodList;
}

/** How a command ended. */
export interface DisruptionEndRecord {
  readonly kind: 'disruption-end';
  readonly command: string;
  readonly reason: string;
  readonly nodes: readonly string[];
  readonly outcome: 'done' | 'taken-back';
  readonly problem?: string;
}

/** A node that a pass considered and kept; written when the cause is new. */
export interface KeptRecord extends Kept {
  readonly kind: 'kept';
  /** Since when a cause of this kind has kept the node, in milliseconds since 1970. Set by the ledger. */
  readonly since?: number;
}

/** Possible savings and their blockers; written on change. */
export interface SavingsRecord extends SavingsBacklog {
  readonly kind: 'savings';
}

/** Progress of replacing drifted nodes of a pool. */
export interface DriftRecord extends DriftProgress {
  readonly kind: 'drift';
}

const NAMED_NODES = 20;

export function disruptionRecord(id: string, command: Command): DisruptionRecord {
  const { reason, consolidationType, candidates, replacements, savingsPerHour } = command;
  const nodes = candidates
    .slice(0, NAMED_NODES)
    .map(({ view, pool, instanceType, zone, capacityType, pricePerHour }): NodeEntry => ({
      nodePool: pool.metadata.name,
      node: view.name,
      nodeClaim: view.claim.metadata.name,
      ...(instanceType && { instanceType: instanceType.name }),
      ...(zone !== undefined && { zone }),
      ...(capacityType !== undefined && { capacityType }),
      pricePerHour,
    }));
  return {
    kind: 'disruption',
    command: id,
    reason,
    consolidationType,
    decision: decisionOf(command),
    nodes,
    nodeCount: candidates.length,
    replacements: replacements.slice(0, NAMED_NODES).map(replacementEntry),
    replacementCount: replacements.length,
    savingsPerHour,
    pods: podList(candidates.flatMap(({ pods }) => pods.map(podKey))),
  };
}

function replacementEntry(replacement: Replacement): NodeEntry {
  if (replacement.kind === 'static') return { nodePool: replacement.pool };
  const { pool, alternatives } = replacement.plan;
  return { nodePool: pool, ...alternatives[0] };
}
