import { expect, it } from 'vitest';
import { PaperCluster } from '../../test/fixtures/disruption/paperCluster.ts';
import { paperPod } from '../../test/fixtures/disruption/paperPods.ts';
import { testType } from '../../test/fixtures/solver/testObjects.ts';

const TYPES = [testType('t4', 4, 8, 0.4)];
const pods = (name: string, count: number, cpu: string) =>
  Array.from({ length: count }, (_, at) => paperPod(`${name}-${at}`, { cpu, memory: '100Mi' }));

it('is the price of the used part of the nodes, divided among the pods of each pool', () => {
  const paper = new PaperCluster();
  for (const name of ['large', 'small', 'empty']) paper.addPool(TYPES, { name });
  const { cpu } = TYPES[0]?.allocatable ?? {};
  const cores = cpu?.milliValue() ?? 0;
  paper.addNode({ pool: 'large', type: 't4', pods: pods('large', 1, `${cores}m`) });
  // Half of the node is free, which is not counted.
  paper.addNode({ pool: 'small', type: 't4', pods: pods('small', 10, `${cores / 20}m`) });
  paper.addNode({ pool: 'empty', type: 't4' });
  const { podPrices } = paper.pass().pass;
  expect(podPrices.get('large')).toBeCloseTo(0.4);
  expect(podPrices.get('small')).toBeCloseTo(0.02);
  expect(podPrices.get('empty')).toBe(0);
});
