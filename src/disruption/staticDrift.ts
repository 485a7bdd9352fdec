import type { NodeView } from '../cluster/nodeView.ts';
import { Allowance } from './allowance.ts';
import { keptNode, type Candidate } from './candidate.ts';
import type { Command } from './command.ts';
import type { Kept, KeptCause, OutcomeCause } from './kept.ts';
import type { Decision, Method, Pass } from './method.ts';
import { byDrift } from './order.ts';

/** Replaces drifted nodes of static pools one for one, as many at once as budgets and the pool's node limit allow. */
export const staticDrift: Method = {
  name: 'static-drift',
  reason: 'Drifted',
  class: 'eventual',
  consolidationType: '',

  consider({ pool, driftedSince }: Candidate): KeptCause | undefined {
    if (pool.spec.replicas === undefined) return { kind: 'not-static-pool' };
    return driftedSince === undefined ? { kind: 'not-drifted' } : undefined;
  },

  *decide(candidates: readonly Candidate[], pass: Pass): Generator<void, Decision> {
    const allowance = new Allowance(pass.budgets, 'Drifted');
    const rooms = new Map<string, number>();
    const commands: Command[] = [];
    const kept: Kept[] = [];
    for (const candidate of byDrift(candidates)) {
      const { name } = candidate.pool.metadata;
      const room = rooms.get(name) ?? nodeRoom(candidate, pass);
      const cause = obstacle(candidate, pass, allowance, room);
      if (cause !== undefined) {
        kept.push(keptNode(candidate.view, cause));
        continue;
      }
      rooms.set(name, room - 1);
      allowance.take([candidate]);
      commands.push(replacement(candidate));
    }
    yield;
    return { commands, kept, coverage: { evaluated: candidates.length, of: candidates.length } };
  },
};

function obstacle({ pool }: Candidate, pass: Pass, allowance: Allowance, room: number): OutcomeCause | undefined {
  const { name } = pool.metadata;
  const { replicas = 0 } = pool.spec;
  const nodes = nodesOfPool(pass, name).filter(({ deleting }) => !deleting).length;
  const paused = pass.pausedUntil(name);
  if (nodes > replicas) return { kind: 'scale-down-first', nodes, replicas };
  if (paused !== undefined) return { kind: 'recent-launch-failure', until: paused };
  if (allowance.left(name) <= 0) return allowance.cause(name);
  return room <= 0 ? { kind: 'node-limit' } : undefined;
}

/** Nodes still allowed by the pool's limit; nodes about to be removed count too. */
function nodeRoom({ pool }: Candidate, pass: Pass): number {
  const limit = pool.spec.limits?.['nodes'];
  if (limit === undefined) return Number.POSITIVE_INFINITY;
  return Number(limit) - nodesOfPool(pass, pool.metadata.name).length;
}

function nodesOfPool({ views }: Pass, pool: string): readonly NodeView[] {
  return views.filter(({ nodePool, claim }) => nodePool === pool && claim !== undefined);
}

function replacement(candidate: Candidate): Command {
  return {
    reason: 'Drifted',
    consolidationType: '',
    candidates: [candidate],
    replacements: [{ kind: 'static', pool: candidate.pool.metadata.name }],
    onExisting: [],
    savingsPerHour: 0,
    evictions: candidate.pods.length,
  };
}
