import { describe, expect, it } from 'vitest';
import { Labels } from '../api/labels.ts';
import type { Problem, UnplacedReason } from './problem.ts';
import { testPod, testPool, testType } from '../../test/fixtures/solver/randomCluster.ts';
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

describe('reasons', () => {
  it('tells how near the nearest machine came, and what to ask for instead', () => {
    const reason = reasonOf({ pods: [testPod('a', '8200m', '1Gi')] });
    expect(reason).toEqual({
      kind: 'refused',
      pools: [
        {
          pool: 'default',
          stage: 'resources',
          detail: 'large comes nearest and lacks 300m cpu',
          removed: [{ stage: 'resources', count: 2 }],
          nearestMiss: 'large lacks 300m cpu',
        },
      ],
      smallestChange: { kind: 'requests', description: 'ask for 300m cpu less, to fit on large' },
    });
  });

  it('suggests the toleration that opens a pool', () => {
    const tainted = testPool('gpu', { taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }] });
    const reason = reasonOf({
      pods: [testPod('a', '1', '1Gi')],
      pools: [{ pool: tainted, instanceTypes: types, used: {} }],
    });
    expect(reason).toMatchObject({
      pools: [{ stage: 'taints', detail: 'does not tolerate gpu=yes:NoSchedule' }],
      smallestChange: { kind: 'toleration', description: 'tolerate gpu=yes:NoSchedule, as NodePool "gpu" asks' },
    });
  });

  it('suggests to drop the one selector that nobody meets', () => {
    const spec = { nodeSelector: { [Labels.arch]: 'amd64', disk: 'fast' } };
    expect(reasonOf({ pods: [testPod('a', '1', '1Gi', spec)] })).toMatchObject({
      pools: [{ stage: 'requirements' }],
      smallestChange: { kind: 'node-selector', description: 'drop disk=fast from nodeSelector' },
    });
  });

  it('suggests how far a limit must be raised', () => {
    const limited = testPool('default', {}, { limits: { cpu: '3' } });
    const reason = reasonOf({
      pods: [testPod('a', '1500m', '1Gi'), testPod('b', '1500m', '1Gi')],
      pools: [{ pool: limited, instanceTypes: types, used: {} }],
    });
    expect(reason).toMatchObject({
      pools: [{ stage: 'limits', detail: 'spec.limits of cpu would be exceeded' }],
      smallestChange: { kind: 'limit', description: 'raise spec.limits.cpu of NodePool "default" from 3 to 4' },
    });
  });

  it('suggests to soften a spread that cannot be met', () => {
    const spec = {
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          minDomains: 4,
          topologyKey: Labels.zone,
          whenUnsatisfiable: 'DoNotSchedule',
          labelSelector: { matchLabels: { app: 'a' } },
        },
      ],
    };
    const pods = [0, 1, 2, 3].map((index) => testPod(`p${index}`, '1', '1Gi', spec, { labels: { app: 'a' } }));
    expect(reasonOf({ pods })).toMatchObject({
      pools: [{ stage: 'topology' }],
      smallestChange: {
        kind: 'spread',
        description: 'let the spread over topology.kubernetes.io/zone be ScheduleAnyway',
      },
    });
  });

  it('says why a node has its type: what bound it, what came close, what costs more', () => {
    const { plannedNodes } = solve(problem({ pods: [testPod('big', '1', '10Gi'), testPod('tiny', '100m', '100Mi')] }));
    expect(plannedNodes).toHaveLength(1);
    expect(plannedNodes[0]?.choice.boundBy).toBe('default/big');
    expect(plannedNodes[0]?.choice.boundByResource).toBe('memory');
    expect(plannedNodes[0]?.choice.others[0]).toMatchObject({ instanceType: 'small', because: 'fit' });
  });

  it('gives all of a group a place, or none of it', () => {
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

  it('lets the important go first where a limit does not suffice for all', () => {
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
