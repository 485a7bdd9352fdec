import { expect, it } from 'vitest';
import { PaperCluster, type PaperNode } from '../../test/fixtures/disruption/paperCluster.ts';
import { paperPod, type PaperPod } from '../../test/fixtures/disruption/paperPods.ts';
import { testType } from '../../test/fixtures/solver/testObjects.ts';
import { partsOf, type Part } from './parts.ts';
import { displacedPrice } from './schedulerReplay.ts';
import type { Pass } from './method.ts';

const MEMORY = '100Mi';
const types = [testType('node', 10, 100, 1)];

/** Node `a` with these pods is removed; `b` has room for 4 cores, `c` for 3. */
function going(
  cores: readonly number[],
  spec: PaperPod['spec'] = {},
  others: Pick<PaperNode, 'taints'> = {},
): { parts: readonly Part[]; pass: Pass } {
  const paper = new PaperCluster();
  paper.addPool(types);
  const pods = cores.map((cpu, at) => paperPod(`p${at}`, { cpu: String(cpu), memory: MEMORY, spec }));
  paper.addNode({ name: 'a', type: 'node', pods });
  const room = Number(paper.cluster.snapshot().nodes[0]?.allocatable['cpu']?.milliValue());
  const filler = (name: string, left: number) => paperPod(name, { cpu: `${room - left}m`, memory: MEMORY });
  paper.addNode({ name: 'b', type: 'node', pods: [filler('q', 4_000)], ...others });
  paper.addNode({ name: 'c', type: 'node', pods: [filler('r', 3_000)], ...others });
  const { pass } = paper.pass();
  const without = pass.candidates.filter(({ view }) => view.name === 'a');
  return { pass, parts: partsOf(without, pass.whatIf({ without, allowsUnsettled: false, existingOnly: true })) };
}

it('costs nothing where every pod finds room, wherever the scheduler puts it', () => {
  const { parts, pass } = going([3, 2, 1]);
  expect(parts.flatMap(({ unplaced }) => unplaced)).toEqual([]);
  expect(displacedPrice(parts, pass)).toBe(0);
});

it('counts a pod whose room is used by others because of their scheduler score', () => {
  // The plan has 2 and 2 on `b` and 3 on `c`; the scheduler puts 3 on `b`, 2 on `c`, and the last one nowhere.
  const { parts, pass } = going([3, 2, 2]);
  expect(parts.flatMap(({ unplaced }) => unplaced)).toEqual([]);
  const price = displacedPrice(parts, pass);
  expect(price).toBeGreaterThan(0.05);
  expect(price).toBeLessThan(0.4);
});

it('assumes that constrained pods go where they are planned', () => {
  const { parts, pass } = going([3, 2, 2], { nodeSelector: { 'karpenter.sh/nodepool': 'default' } });
  expect(parts.flatMap(({ unplaced }) => unplaced)).toEqual([]);
  expect(displacedPrice(parts, pass)).toBe(0);
});

it('counts pods that do not tolerate the nodes with room', () => {
  const taints = [{ key: 'team', value: 'blue', effect: 'NoSchedule' }];
  const strangers = going([1], {}, { taints });
  expect(displacedPrice(strangers.parts, strangers.pass)).toBeGreaterThan(0);
  const friends = going([1], { tolerations: [{ key: 'team', operator: 'Exists' }] }, { taints });
  expect(displacedPrice(friends.parts, friends.pass)).toBe(0);
});
