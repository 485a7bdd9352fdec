import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { testPod, testPool, testType } from '../../test/fixtures/solver/testObjects.ts';
import { podKey } from '../pods/podKey.ts';
import { podRequests } from '../pods/podRequests.ts';
import { addResources, formatResources } from '../units/resources.ts';
import { solve } from './solve.ts';

const cpu = fc.constantFrom('100m', '0.1', '1500u', '1', '250m', '0');
const memory = fc.constantFrom('64Mi', '100M', '1Gi', '1e6', '0.5Gi', '1500m');

describe('requests of a planned node', () => {
  it('are the exact sum of its pods and daemons, in any notation', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(cpu, memory), { minLength: 1, maxLength: 6 }),
        fc.array(fc.tuple(cpu, memory), { maxLength: 2 }),
        (asked, onEveryNode) => {
          const pods = asked.map(([own, room], at) => testPod(`p${at}`, own, room));
          const daemons = onEveryNode.map(([own, room], at) => testPod(`daemon-${at}`, own, room));
          const byKey = new Map(pods.map((pod) => [podKey(pod), pod]));
          const pools = [{ pool: testPool('default'), instanceTypes: [testType('a8', 8, 32, 0.4)], used: {} }];
          const { plannedNodes } = solve({ pods, pools, nodes: [], daemons });
          expect(plannedNodes.length).toBeGreaterThan(0);
          for (const node of plannedNodes) {
            const held = node.pods.flatMap((key) => byKey.get(key) ?? []);
            expect(node.requests).toEqual(formatResources(addResources(...[...held, ...daemons].map(podRequests))));
          }
        },
      ),
      { numRuns: 200 },
    );
  });
});
