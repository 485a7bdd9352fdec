import { describe, expect, it } from 'vitest';
import { drawWorld, summaryOf, type NodeRow, type WorldFacts } from './worldPicture.ts';

const node = (index: number): NodeRow => ({
  name: `aks-default-${index}`,
  instanceType: 'Standard_D4s_v5',
  zone: 'eastus-1',
  capacityType: 'on-demand',
  price: 0.192,
  state: 'ready',
  cpu: 0.75,
  memory: 0.5,
  pods: 7,
});

const facts: WorldFacts = {
  title: 'nodewright 0.1.0 · black-friday · calm',
  time: '09:00:05',
  nodes: [node(1), { ...node(2), state: 'joining', cpu: 0, memory: 0, pods: 0 }],
  running: 7,
  waiting: [{ owner: 'storefront', count: 3, reason: '0/2 nodes are available: 2 Insufficient cpu.' }],
  faults: ['#1 zonal-allocation zone=1, struck 2×'],
  decisions: ['09:00:01  default-x7k2p: bought D4s_v5 in eastus-1 on-demand, $0.192/h'],
  hints: ['export KUBECONFIG=.nodewright/kubeconfig'],
};

describe('summaryOf', () => {
  it.each([
    [{}, '$0.384/h'],
    [{ saved: 0.25, held: 0.0001 }, '$0.384/h ($0.250/h saved)'],
    [{ held: 0.1 }, '$0.384/h ($0.100/h could be saved)'],
    [{ saved: 0.25, held: 0.1 }, '$0.384/h ($0.250/h saved, $0.100/h more could be)'],
  ])('says what was saved and what could be: %j', (savings, end) => {
    expect(summaryOf({ ...facts, ...savings })).toBe(`2 nodes, 7 pods running, 3 waiting, ${end}`);
  });
});

describe('drawWorld', () => {
  it('shows nodes with type, price and fill, waiting pods, faults and decisions', () => {
    expect(drawWorld(facts, 120, 40).join('\n')).toMatchInlineSnapshot(`
      "nodewright 0.1.0 · black-friday · calm   09:00:05
      2 nodes, 7 pods running, 3 waiting, $0.384/h

      NODE           TYPE    ZONE      KIND       STATE    $/H    CPU              MEM              PODS
      aks-default-1  D4s_v5  eastus-1  on-demand  ready    0.192  ████████░░  75%  █████░░░░░  50%  7
      aks-default-2  D4s_v5  eastus-1  on-demand  joining  0.192  ░░░░░░░░░░   0%  ░░░░░░░░░░   0%  0

      WAITING
        3 pods of storefront: 0/2 nodes are available: 2 Insufficient cpu.

      FAULTS
        #1 zonal-allocation zone=1, struck 2×

      LAST DECISIONS
        09:00:01  default-x7k2p: bought D4s_v5 in eastus-1 on-demand, $0.192/h

        export KUBECONFIG=.nodewright/kubeconfig"
    `);
  });

  it('shows every column, the name of a claim and a whole reason on a terminal of 80 by 24', () => {
    const world: WorldFacts = {
      ...facts,
      nodes: [
        { ...node(1), name: 'aks-nodepool1-35960998-vms0', capacityType: 'system' },
        { ...node(2), name: 'aks-default-x7k2p', instanceType: 'Standard_D16als_v6', pods: 31 },
      ],
      waiting: [
        {
          owner: 'storefront',
          count: 3,
          reason: 'incompatible with nodepool "default": no instance type has 200 cpu; the largest, D96s_v5, has 95.3',
        },
      ],
      faults: [],
    };
    expect(drawWorld(world, 80, 24).join('\n')).toMatchInlineSnapshot(`
      "nodewright 0.1.0 · black-friday · calm   09:00:05
      2 nodes, 7 pods running, 3 waiting, $0.384/h

      NODE               TYPE       ZONE  KIND       STATE  $/H    CPU   MEM   PODS
      aks-nodepool1-35…  D4s_v5     1     system     ready  0.192   75%   50%  7
      aks-default-x7k2p  D16als_v6  1     on-demand  ready  0.192   75%   50%  31

      WAITING
        3 pods of storefront: incompatible with nodepool "default": no instance type
          has 200 cpu; the largest, D96s_v5, has 95.3

      LAST DECISIONS
        09:00:01  default-x7k2p: bought D4s_v5 in eastus-1 on-demand, $0.192/h

        export KUBECONFIG=.nodewright/kubeconfig"
    `);
  });

  it('fits any window', () => {
    const many = { ...facts, nodes: Array.from({ length: 500 }, (_, index) => node(index)) };
    for (const [width, height] of [
      [80, 24],
      [40, 12],
      [200, 60],
    ] as const) {
      const lines = drawWorld(many, width, height);
      expect(lines.length).toBeLessThanOrEqual(height);
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width);
    }
    expect(drawWorld(many, 80, 24).join('\n')).toMatch(/… and \d+ more/);
  });

  it('says so when there are no nodes', () => {
    const empty = { ...facts, nodes: [], waiting: [], running: 0, faults: [], decisions: [] };
    expect(summaryOf(empty)).toBe('0 nodes, 0 pods running, 0 waiting, $0.000/h');
    expect(drawWorld(empty, 80, 24)).toContain('  none: no pod needs one');
  });
});
