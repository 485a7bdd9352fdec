import { expect, it } from 'vitest';
import { PaperCluster } from '../../test/fixtures/disruption/paperCluster.ts';
import { paperPod } from '../../test/fixtures/disruption/paperPods.ts';
import { testType } from '../../test/fixtures/solver/testObjects.ts';
import { Quantity } from '../units/quantity.ts';

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
  paper.addNode({ pool: 'small', type: 't4', pods: pods('small', 4, `${cores / 8}m`) });
  paper.addNode({ pool: 'empty', type: 't4' });
  const { podPrices } = paper.pass().pass;
  expect(podPrices.get('large')).toBeCloseTo(0.4);
  expect(podPrices.get('small')).toBeCloseTo(0.05);
  expect(podPrices.get('empty')).toBe(0);
});

it('counts the resource that runs out first, such as GPUs or the number of pods', () => {
  const [plain] = TYPES;
  if (plain === undefined) throw new Error('no instance type');
  const resources = { ...plain.capacity, 'nvidia.com/gpu': Quantity.parse('4') };
  const paper = new PaperCluster();
  paper.addPool([{ ...plain, capacity: resources, allocatable: resources }], { name: 'gpu' });
  paper.addPool(TYPES, { name: 'tiny' });
  const requests = { cpu: '100m', memory: '100Mi', 'nvidia.com/gpu': '1' };
  const container = { name: 'main', resources: { requests, limits: requests } };
  const gpuPods = ['a', 'b'].map((name) => paperPod(name, { spec: { containers: [container] } }));
  paper.addNode({ pool: 'gpu', type: 't4', pods: gpuPods });
  // A node holds eight pods.
  paper.addNode({ pool: 'tiny', type: 't4', pods: pods('tiny', 8, '10m') });
  const { podPrices } = paper.pass().pass;
  expect(podPrices.get('gpu')).toBeCloseTo(0.1);
  expect(podPrices.get('tiny')).toBeCloseTo(0.05);
});
