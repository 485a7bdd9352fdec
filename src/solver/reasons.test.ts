import { describe, expect, it } from 'vitest';
import { Labels } from '../api/labels.ts';
import { Requirements } from '../constraints/requirements.ts';
import { changeText } from '../ledger/changeText.ts';
import { reasonLines } from '../ledger/reasonText.ts';
import { parseResources } from '../units/resources.ts';
import type { ExistingNode, Problem } from './problem.ts';
import type { UnplacedReason } from './reasons.ts';
import { testPod, testPool, testType } from '../../test/fixtures/solver/testObjects.ts';
import { solve } from './solve.ts';

const types = [testType('small', 2, 8, 0.1), testType('large', 8, 32, 0.4)];
const problem = (parts: Partial<Problem>): Problem => ({
  pods: [],
  pools: [{ pool: testPool('default'), instanceTypes: types, used: {} }],
  nodes: [],
  daemons: [],
  ...parts,
});
const reasonOf = (parts: Partial<Problem>): UnplacedReason | undefined =>
  solve(problem(parts), { suggestChanges: true }).unplaced[0]?.reason;
/** The reason as text, and the suggested change. */
const wordsFor = (parts: Partial<Problem>): string[] => {
  const reason = reasonOf(parts);
  if (reason === undefined) return [];
  const change = reason.kind === 'refused' ? reason.smallestChange : undefined;
  return [...reasonLines(reason), ...(change === undefined ? [] : [changeText(change)])];
};
const spreadOver = (topologyKey: string, more: object = {}) => ({
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey,
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { app: 'a' } },
      ...more,
    },
  ],
});
const node = (name: string, parts: Partial<ExistingNode> = {}): ExistingNode => ({
  name,
  labels: { [Labels.zone]: 'zone-1', [Labels.hostname]: name },
  taints: [],
  free: parseResources({ cpu: '1', memory: '1Gi', pods: '10' }),
  pods: [],
  initialized: true,
  ...parts,
});

describe('reasons', () => {
  it('are plain data', () => {
    const reason = reasonOf({ pods: [testPod('a', '8200m', '1Gi')], nodes: [node('n1')] });
    expect(JSON.parse(JSON.stringify(reason))).toEqual(reason);
    expect(reason).toEqual({
      kind: 'refused',
      pools: [
        {
          pool: 'default',
          stage: 'resources',
          nearest: { instanceType: 'large', lacks: [{ resource: 'cpu', amount: '300m' }] },
          removed: [{ stage: 'resources', count: 2 }],
        },
      ],
      nodes: [{ stage: 'resources', nodes: 1, example: 'n1' }],
      smallestChange: { kind: 'requests', less: [{ resource: 'cpu', amount: '300m' }], instanceType: 'large' },
    });
  });

  it('name the nearest instance type with readable quantities', () => {
    expect(wordsFor({ pods: [testPod('a', '8200m', '1Gi')] })).toEqual([
      'NodePool "default": no instance type is large enough; the nearest, large, lacks 300m cpu',
      'request 300m cpu less, to fit on large',
    ]);
    expect(wordsFor({ pods: [testPod('a', '2004040m', '1Gi')] })[0]).toContain('lacks 1996.14 cpu');
  });

  it('suggest the toleration that opens a pool', () => {
    const tainted = testPool('gpu', { taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }] });
    expect(
      wordsFor({ pods: [testPod('a', '1', '1Gi')], pools: [{ pool: tainted, instanceTypes: types, used: {} }] }),
    ).toEqual(['NodePool "gpu": did not tolerate gpu=yes:NoSchedule', 'tolerate gpu=yes:NoSchedule of NodePool "gpu"']);
  });

  it('suggest dropping the one selector that no node meets', () => {
    const spec = { nodeSelector: { [Labels.arch]: 'amd64', disk: 'fast' } };
    expect(wordsFor({ pods: [testPod('a', '1', '1Gi', spec)] })).toEqual([
      'NodePool "default": incompatible requirements, label "disk" does not have known values',
      'drop disk=fast from nodeSelector',
    ]);
  });

  it('name the requirement that no instance type meets, not all of them', () => {
    const spec = { nodeSelector: { [Labels.arch]: 'amd64', [Labels.instanceType]: 'huge', [Labels.os]: 'linux' } };
    const [line] = wordsFor({ pods: [testPod('a', '1', '1Gi', spec)] });
    expect(line).toBe('NodePool "default": no instance type meets node.kubernetes.io/instance-type In [huge]');
  });

  it('name requirements that only fail together', () => {
    const zones = [testType('west', 2, 8, 0.1, ['w']), testType('east', 2, 8, 0.1, ['e'])];
    const spec = { nodeSelector: { [Labels.arch]: 'amd64', [Labels.instanceType]: 'west', [Labels.zone]: 'e' } };
    const [line] = wordsFor({
      pods: [testPod('a', '1', '1Gi', spec)],
      pools: [{ pool: testPool('default'), instanceTypes: zones, used: {} }],
    });
    expect(line).toBe(
      'NodePool "default": no instance type meets node.kubernetes.io/instance-type In [west] and topology.kubernetes.io/zone In [e]',
    );
  });

  it('name the requirements of the NodePool when they alone leave no instance type', () => {
    const pool = testPool('default', {
      requirements: [{ key: Labels.instanceType, operator: 'In', values: ['other'] }],
    });
    const [line] = wordsFor({
      pods: [testPod('a', '1', '1Gi')],
      pools: [{ pool, instanceTypes: types, used: {} }],
    });
    expect(line).toBe(
      `NodePool "default": no instance type meets the NodePool's own node.kubernetes.io/instance-type In [other]`,
    );
  });

  it('say when a resource is unknown', () => {
    const pod = testPod('a', '1', '1Gi', {
      containers: [{ name: 'c', resources: { requests: { 'example.com/fpga': '1' } } }],
    });
    expect(wordsFor({ pods: [pod] })[0]).toBe('NodePool "default": no instance type has the resource example.com/fpga');
  });

  it('say that volumes in two zones cannot be attached together', () => {
    const pod = testPod('a', '1', '1Gi');
    const zones = ['zone-1', 'zone-2'].map((zone) => Requirements.fromLabels({ [Labels.zone]: zone }));
    const both = zones.reduce((left, right) => left.merge(right));
    const volumes = new Map([['default/a', { alternatives: [both], attachments: [] }]]);
    expect(wordsFor({ pods: [pod], volumes })[0]).toBe(
      'NodePool "default": its volumes need different values of topology.kubernetes.io/zone, so no node can attach them all',
    );
  });

  it('name the daemon that holds a host port', () => {
    const ports = (name: string) => ({
      containers: [{ name, resources: { requests: { cpu: '100m' } }, ports: [{ containerPort: 80, hostPort: 8080 }] }],
    });
    expect(
      wordsFor({
        pods: [testPod('a', '1', '1Gi', ports('a'))],
        daemons: [testPod('agent', '1', '1Gi', ports('d'))],
      })[0],
    ).toBe('NodePool "default": host port 8080/TCP is taken by daemon default/agent on every node');
  });

  it('suggest how far to raise a limit', () => {
    const limited = testPool('default', {}, { limits: { cpu: '3' } });
    expect(
      wordsFor({
        pods: [testPod('a', '1500m', '1Gi'), testPod('b', '1500m', '1Gi')],
        pools: [{ pool: limited, instanceTypes: types, used: {} }],
      }),
    ).toEqual([
      'NodePool "default": spec.limits of cpu would be exceeded',
      'raise spec.limits.cpu of NodePool "default" from 3 to 4',
    ]);
  });

  it('suggest softening a spread that cannot be met', () => {
    const spec = spreadOver(Labels.zone, { minDomains: 4 });
    const pods = [0, 1, 2, 3].map((index) => testPod(`p${index}`, '1', '1Gi', spec, { labels: { app: 'a' } }));
    const words = wordsFor({ pods });
    expect(words[0]).toMatch(
      /^NodePool "default": no domain satisfies spread with maxSkew 1 and minDomains 4 over topology.kubernetes.io\/zone \(pods by domain: /,
    );
    expect(words[1]).toBe('change the spread over topology.kubernetes.io/zone to ScheduleAnyway');
  });

  it('say that no node has the label that a pod spreads over', () => {
    const pod = testPod('a', '1', '1Gi', spreadOver('rack'), { labels: { app: 'a' } });
    expect(wordsFor({ pods: [pod] })[0]).toBe(
      'NodePool "default": no domain satisfies spread with maxSkew 1 over rack, a label that no node has',
    );
  });

  it('name the topology constraint that fails and not the others', () => {
    const zone = spreadOver(Labels.zone).topologySpreadConstraints;
    const rack = spreadOver('rack').topologySpreadConstraints;
    const pod = testPod('a', '1', '1Gi', { topologySpreadConstraints: [...zone, ...rack] }, { labels: { app: 'a' } });
    const [line] = wordsFor({ pods: [pod] });
    expect(line).toContain('rack');
    expect(line).not.toContain(Labels.zone);
  });

  it('say why existing nodes refused, counted by reason', () => {
    const nodes = [
      node('full'),
      node('full-too'),
      node('tainted', { taints: [{ key: 'x', effect: 'NoSchedule' }] }),
      node('elsewhere', { labels: { [Labels.zone]: 'zone-2' }, free: parseResources({ cpu: '9', memory: '9Gi' }) }),
    ];
    const pod = testPod('a', '9', '1Gi', { nodeSelector: { [Labels.zone]: 'zone-1' } });
    const words = wordsFor({ pods: [pod], nodes, pools: [] });
    expect(words).toEqual([
      'no NodePool is ready',
      '0 of 4 existing nodes: 1 untolerated taints (such as tainted), 1 other labels than required (such as elsewhere), 2 not enough room (such as full)',
    ]);
  });

  it('say what determined the type of a node, what was close, and what costs more', () => {
    const pods = [testPod('big', '1', '10Gi'), testPod('tiny', '100m', '100Mi')];
    const { plannedNodes } = solve(problem({ pods }), { explainChoices: true });
    expect(plannedNodes).toHaveLength(1);
    expect(plannedNodes[0]?.choice).toMatchObject({
      boundBy: 'default/big',
      boundByResource: 'memory',
      others: [{ instanceType: 'small', because: 'fit', lacks: { resource: 'memory' } }],
    });
  });

  it('count the instance types that each stage removed for a node', () => {
    const pods = [testPod('big', '1', '10Gi', { nodeSelector: { [Labels.zone]: 'z1' } })];
    const instanceTypes = [...types, testType('west', 8, 32, 0.3, ['w'])];
    const pools = [{ pool: testPool('default'), instanceTypes, used: {} }];
    const [node] = solve(problem({ pods, pools }), { explainChoices: true }).plannedNodes;
    const { offered = 0, removed = [] } = node?.choice?.candidates ?? {};
    expect(offered).toBe(3);
    expect(removed).toContainEqual({ stage: 'resources', count: 1 });
    expect(removed.reduce((sum, { count }) => sum + count, 0)).toBe(2);
    expect(node?.alternatives[0]?.instanceType).toBe('large');
  });

  it('place all of a group, or none of it', () => {
    const limited = testPool('default', {}, { limits: { nodes: '1' } });
    const member = (name: string, group: string) =>
      testPod(name, '7', '1Gi', {}, { annotations: { 'nodewright.dev/pod-group': group } });
    const solution = solve(
      problem({
        pods: [member('a1', 'a'), member('a2', 'a'), testPod('single', '7', '1Gi')],
        pools: [{ pool: limited, instanceTypes: types, used: {} }],
      }),
    );
    expect(solution.plannedNodes.flatMap(({ pods }) => pods)).toEqual(['default/single']);
    expect(solution.unplaced.map(({ reason }) => reason.kind)).toEqual(['group', 'group']);
  });

  it('let higher priority go first where a limit does not suffice for all', () => {
    const limited = testPool('default', {}, { limits: { nodes: '1' } });
    const solution = solve(
      problem({
        pods: [testPod('a', '7', '1Gi'), testPod('b', '7', '1Gi', { priority: 5 })],
        pools: [{ pool: limited, instanceTypes: types, used: {} }],
      }),
    );
    expect(solution.unplaced.map(({ pod }) => pod)).toEqual(['default/a']);
  });
});
