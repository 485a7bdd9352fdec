import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyProblem } from '../../../test/fixtures/solver/randomCluster.ts';
import { Quantity } from '../../units/quantity.ts';
import type { ExistingNode, Problem, Snapshot } from '../problem.ts';
import { ask } from '../solve.ts';
import { Model } from './model.ts';

/** More with NODEWRIGHT_PROPERTY_RUNS, for long runs. */
const runs = Number(process.env['NODEWRIGHT_PROPERTY_RUNS'] ?? 400);
const NAMES = 6;

/** Which part of the next snapshot comes from which problem; an unnamed part stays as it is. */
const step = fc.record(
  {
    pools: fc.nat(2),
    types: fc.nat(2),
    daemons: fc.nat(2),
    namespaces: fc.nat(2),
    used: fc.integer({ min: 0, max: 12 }),
    /** For each node slot: keep it, empty it, or fill it with that node. */
    nodes: fc.array(fc.option(fc.nat(8), { nil: undefined }), { maxLength: NAMES }),
    uninitialized: fc.array(fc.nat(NAMES - 1), { maxLength: 2 }),
    withoutNode: fc.nat(NAMES - 1),
    pods: fc.nat(2),
    isReversed: fc.boolean(),
  },
  { requiredKeys: ['nodes', 'pods'] },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

function nextSnapshot(before: Snapshot, change: Step, problems: readonly Problem[]): Snapshot {
  const from = (at: number | undefined): Problem | undefined => (at === undefined ? undefined : problems[at]);
  const found = problems.flatMap(({ nodes }) => nodes);
  const nodes = new Map(before.nodes.map((node) => [node.name, node]));
  change.nodes.forEach((source, place) => {
    const name = `node-${place}`;
    if (source === undefined) return;
    const node = found[source];
    if (node === undefined) nodes.delete(name);
    else nodes.set(name, { ...node, name, labels: { ...node.labels, 'kubernetes.io/hostname': name } });
  });
  for (const place of change.uninitialized ?? []) {
    const node = nodes.get(`node-${place}`);
    if (node) nodes.set(node.name, { ...node, initialized: !node.initialized } satisfies ExistingNode);
  }
  const listed = [...nodes.values()].sort((left, right) => (left.name < right.name ? -1 : 1));
  const instanceTypes = from(change.types)?.pools[0]?.instanceTypes;
  const namespaces = from(change.namespaces)?.namespaces ?? before.namespaces;
  const pools = from(change.pools)?.pools ?? before.pools;
  return {
    ...before,
    nodes: change.isReversed === true ? listed.reverse() : listed,
    pools: pools.map((offer) => ({
      ...offer,
      ...(instanceTypes && { instanceTypes }),
      ...(change.used !== undefined && { used: { cpu: Quantity.fromValue(change.used) } }),
    })),
    daemons: from(change.daemons)?.daemons ?? before.daemons,
    ...(namespaces && { namespaces }),
  };
}

describe('a model that is carried forward', () => {
  it('gives the same answers as a new model, after any changes', { timeout: 600_000 }, () => {
    fc.assert(
      fc.property(
        fc.array(anyProblem, { minLength: 3, maxLength: 3 }),
        fc.array(step, { minLength: 1, maxLength: 6 }),
        (problems, steps) => {
          const [first] = problems;
          let snapshot: Snapshot = {
            ...(first as Problem),
            volumes: {
              get: (key) => problems.map(({ volumes }) => volumes?.get(key)).find((each) => each !== undefined),
            },
          };
          const carried = Model.of(snapshot);
          for (const change of steps) {
            snapshot = nextSnapshot(snapshot, change, problems);
            carried.advance(snapshot);
            const overlay = {
              pods: problems[change.pods]?.pods ?? [],
              ...(change.withoutNode !== undefined && { withoutNodes: new Set([`node-${change.withoutNode}`]) }),
            };
            const options = { searchRounds: 5 };
            const fresh = ask(Model.of(snapshot), overlay, options);
            expect(JSON.stringify(ask(carried, overlay, options))).toBe(JSON.stringify(fresh));
          }
        },
      ),
      { numRuns: runs },
    );
  });
});
