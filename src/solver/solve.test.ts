import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Pod } from '../api/kinds.ts';
import type { NodePool } from '../api/kinds/nodePool.ts';
import { Labels } from '../api/labels.ts';
import type { InstanceType } from '../cloud/instanceType.ts';
import { podRequests } from '../pods/podRequests.ts';
import { Requirement } from '../constraints/requirement.ts';
import { Requirements } from '../constraints/requirements.ts';
import { addResources, fits, noResources, parseResources, quantityOf, type Resources } from '../units/resources.ts';
import { resolveSolution } from '../../test/fixtures/solver/resolvedSolution.ts';
import type { ExistingNode, PoolOffer, Problem, Solution } from './problem.ts';
import { solve } from './solve.ts';

function instanceType(name: string, cpu: number, memory: number, price: number, zones = ['z1', 'z2']): InstanceType {
  const inValues = (key: string, ...values: string[]): Requirement => Requirement.of(key, 'In', values);
  const capacity = parseResources({ cpu, memory: `${memory}Gi`, pods: 50 });
  return {
    name,
    requirements: Requirements.of(
      inValues(Labels.instanceType, name),
      inValues(Labels.arch, 'amd64'),
      inValues(Labels.os, 'linux'),
      inValues(Labels.zone, ...zones),
      inValues(Labels.capacityType, 'on-demand'),
    ),
    offerings: zones.map((zone) => ({
      requirements: Requirements.of(inValues(Labels.zone, zone), inValues(Labels.capacityType, 'on-demand')),
      zone,
      capacityType: 'on-demand',
      price,
      available: true,
    })),
    capacity,
    allocatable: capacity,
  };
}

const types = [
  instanceType('small', 2, 8, 0.1),
  instanceType('medium', 4, 16, 0.19),
  instanceType('compute', 8, 16, 0.34),
  instanceType('large', 16, 64, 0.8),
];

function pool(
  name: string,
  spec: { limits?: Record<string, string>; taints?: { key: string; effect: 'NoSchedule' }[] } = {},
): NodePool {
  return {
    metadata: { name },
    spec: {
      disruption: {
        consolidateAfter: '0s',
        consolidationPolicy: 'WhenEmptyOrUnderutilized',
        budgets: [{ nodes: '10%' }],
      },
      ...(spec.limits && { limits: spec.limits }),
      template: {
        spec: {
          requirements: [],
          expireAfter: '720h',
          nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' },
          ...(spec.taints && { taints: spec.taints }),
        },
      },
    },
  };
}

const offer = (nodePool: NodePool, used: Resources = noResources): PoolOffer => ({
  pool: nodePool,
  instanceTypes: types,
  used,
});

function pod(name: string, cpu: string, memory: string, spec: object = {}): Pod {
  const containers = [{ name: 'main', resources: { requests: { cpu, memory } } }];
  return { metadata: { name, namespace: 'default', uid: name }, spec: { containers, ...spec } };
}

const pods = (count: number, cpu: string, memory: string, spec: object = {}): Pod[] =>
  Array.from({ length: count }, (_, index) => pod(`${cpu}-${memory}-${index}`, cpu, memory, spec));

const problem = (parts: Partial<Problem>): Problem => ({
  pods: [],
  pools: [offer(pool('default'))],
  nodes: [],
  daemons: [],
  ...parts,
});

function summary(solution: Solution): unknown {
  return {
    nodes: solution.plannedNodes.map(
      ({ pods: placed, alternatives }) => `${alternatives[0]?.instanceType} × ${placed.length}`,
    ),
    unplaced: solution.unplaced.map(({ pod: waiting, reason }) => [waiting, reason]),
  };
}

describe('solve', () => {
  it('buys the node with the best use, not the largest', () => {
    const solution = solve(problem({ pods: pods(8, '1', '1Gi') }));
    expect(summary(solution)).toEqual({ nodes: ['compute × 8'], unplaced: [] });
    expect(solution.pricePerHour).toBeCloseTo(0.34);
  });

  it('uses existing room before it buys', () => {
    const node: ExistingNode = {
      name: 'here',
      labels: {},
      taints: [],
      free: parseResources({ cpu: '2', memory: '8Gi', pods: 10 }),
      pods: [],
      initialized: true,
    };
    const solution = solve(problem({ pods: pods(3, '1', '1Gi'), nodes: [node] }));
    expect(solution.onExisting.map(({ node: name, pods: placed }) => [name, placed.length])).toEqual([['here', 2]]);
    expect(summary(solution)).toEqual({ nodes: ['small × 1'], unplaced: [] });
  });

  it('leaves room for daemons', () => {
    const daemons = [pod('daemon', '200m', '100Mi')];
    expect(summary(solve(problem({ pods: pods(2, '1', '1Gi'), daemons })))).toEqual({
      nodes: ['medium × 2'],
      unplaced: [],
    });
  });

  it('uses the next pool where the first does not fit, and says what each lacks', () => {
    const pools = [offer(pool('tainted', { taints: [{ key: 'gpu', effect: 'NoSchedule' }] })), offer(pool('plain'))];
    const solution = solve(problem({ pods: [pod('a', '1', '1Gi'), pod('b', '17', '1Gi')], pools }));
    expect(solution.plannedNodes.map((node) => node.pool)).toEqual(['plain']);
    expect(summary(solution)).toMatchObject({
      unplaced: [
        [
          'default/b',
          {
            kind: 'refused',
            pools: [
              { pool: 'tainted', stage: 'taints', taints: [{ key: 'gpu', effect: 'NoSchedule' }] },
              {
                pool: 'plain',
                stage: 'resources',
                nearest: { instanceType: 'large', lacks: [{ resource: 'cpu', amount: '1' }] },
              },
            ],
          },
        ],
      ],
    });
  });

  it('narrows the zone to what a pod asks for', () => {
    const solution = solve(problem({ pods: [pod('a', '1', '1Gi', { nodeSelector: { [Labels.zone]: 'z2' } })] }));
    expect(solution.plannedNodes[0]?.alternatives.map(({ zone }) => zone)).toEqual(['z2', 'z2', 'z2', 'z2']);
    const nowhere = solve(problem({ pods: [pod('a', '1', '1Gi', { nodeSelector: { [Labels.zone]: 'z9' } })] }));
    expect(nowhere.unplaced[0]?.reason).toMatchObject({ kind: 'refused', pools: [{ stage: 'instance-types' }] });
  });

  it('reports a pod that needs devices which the solver cannot allocate', () => {
    const claims = { resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'gpu' }] };
    expect(solve(problem({ pods: [pod('a', '1', '1Gi', claims)] })).unplaced[0]?.reason).toEqual({
      kind: 'unsupported',
      feature: 'dynamic-resource-claims',
    });
  });

  const sizes = fc.constantFrom<[string, string]>(
    ['100m', '128Mi'],
    ['500m', '2Gi'],
    ['1', '1Gi'],
    ['1500m', '6Gi'],
    ['3', '20Gi'],
    ['20', '1Gi'],
  );
  const anyPods = fc
    .array(fc.record({ size: sizes, zone: fc.option(fc.constantFrom('z1', 'z2', 'z9'), { nil: undefined }) }), {
      maxLength: 40,
    })
    .map((entries) =>
      entries.map(({ size, zone }, index) =>
        pod(`p${index}`, ...size, zone ? { nodeSelector: { [Labels.zone]: zone } } : {}),
      ),
    );

  it('places each pod exactly once, on nodes that all hold it', () => {
    fc.assert(
      fc.property(anyPods, (waiting) => {
        const asked = problem({ pods: waiting, daemons: [pod('daemon', '100m', '200Mi')] });
        const solution = resolveSolution(asked, solve(asked));
        const seen = [
          ...solution.plannedNodes.flatMap((node) => node.pods),
          ...solution.onExisting.flatMap((node) => node.pods),
          ...solution.unplaced.map((entry) => entry.pod),
        ].map(({ metadata }) => metadata.name);
        expect(seen.sort()).toEqual(waiting.map(({ metadata }) => metadata.name).sort());
        for (const node of solution.plannedNodes) {
          const needed = addResources(podRequests(pod('daemon', '100m', '200Mi')), ...node.pods.map(podRequests));
          expect(node.alternatives.length).toBeGreaterThan(0);
          for (const { instanceType: type, zone } of node.alternatives) {
            expect(fits(needed, type.allocatable)).toBe(true);
            for (const { spec } of node.pods) expect([undefined, zone]).toContain(spec?.nodeSelector?.[Labels.zone]);
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  it('does not depend on the order of its input', () => {
    fc.assert(
      fc.property(anyPods, fc.integer(), (waiting, seed) => {
        const shuffled = [...waiting].sort(
          (left, right) => ((left.metadata.name.length * seed) % 7) - ((right.metadata.name.length * seed) % 7) || -1,
        );
        const first = solve(problem({ pods: waiting }));
        const second = solve(
          problem({ pods: shuffled, pools: [{ ...offer(pool('default')), instanceTypes: [...types].reverse() }] }),
        );
        const names = (solution: Solution): string[] =>
          solution.plannedNodes
            .map((node) => `${node.alternatives[0]?.instanceType} ${node.pods.toSorted().join()}`)
            .sort();
        expect(names(second)).toEqual(names(first));
      }),
      { numRuns: 60 },
    );
  });

  it('never exceeds a limit, whichever alternative is bought', () => {
    fc.assert(
      fc.property(anyPods, fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 4 }), (waiting, cpu, nodes) => {
        const limited = offer(pool('default', { limits: { cpu: String(cpu), nodes: String(nodes) } }));
        const asked = problem({ pods: waiting, pools: [limited] });
        const solution = resolveSolution(asked, solve(asked));
        const worst = solution.plannedNodes.reduce(
          (sum, node) =>
            sum +
            Math.max(...node.alternatives.map(({ instanceType: type }) => quantityOf(type.capacity, 'cpu').value())),
          0,
        );
        expect(worst).toBeLessThanOrEqual(cpu);
        expect(solution.plannedNodes.length).toBeLessThanOrEqual(nodes);
      }),
      { numRuns: 60 },
    );
  });
});
