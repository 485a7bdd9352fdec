/** What a whole pass over a large cluster costs: every method, every node, with the thread given back in between. */
import { Labels } from '../../src/api/labels.ts';
import { candidatesFor } from '../../src/disruption/method.ts';
import { METHODS } from '../../src/disruption/methods.ts';
import { defaultCatalogue } from '../../src/kwok/defaultCatalogue.ts';
import { KwokLabels } from '../../src/kwok/kwokLabels.ts';
import { PaperCluster } from '../../test/fixtures/disruption/paperCluster.ts';
import type { BenchTable } from '../runner.ts';
import { lognormal } from '../workloads.ts';
import { storyPool } from './plane.ts';

const MOST_PODS = 20;
const TYPES = ['s-16x-amd64-linux', 'c-16x-amd64-linux', 'm-16x-amd64-linux'];
const ZONES = ['test-zone-a', 'test-zone-b', 'test-zone-c', 'test-zone-d'];
const ON_DEMAND = { key: Labels.capacityType, operator: 'In' as const, values: ['on-demand'] };

/** Nodes that are filled by turns, so that most are neither empty nor full. */
function clusterOf(nodes: number): PaperCluster {
  const paper = new PaperCluster();
  const { spec } = storyPool({ budgets: [{ nodes: '10%' }] }, [ON_DEMAND]);
  const { template } = spec;
  const requirements = template.spec.requirements?.filter(({ key }) => key !== KwokLabels.instanceCpu) ?? [];
  paper.addPool(defaultCatalogue(), { ...spec, template: { ...template, spec: { ...template.spec, requirements } } });
  const { pods } = lognormal('passes', (nodes * MOST_PODS) / 9, 10);
  for (let at = 0; at < nodes; at++) {
    const own = pods.slice(at * MOST_PODS, (at + 1) * MOST_PODS).slice(0, MOST_PODS - (at % 11));
    paper.addNode({ type: TYPES[at % 3] ?? '', zone: ZONES[at % 4] ?? '', pods: own });
  }
  return paper;
}

interface Cost {
  /** CPU seconds of all, and of the longest piece between two times that the thread is given back. */
  readonly cpu: number;
  readonly longest: number;
  readonly commands: number;
}

function passOver(paper: PaperCluster): Cost {
  let [cpu, longest, commands] = [0, 0, 0];
  const timed = <T>(work: () => T): T => {
    const before = process.cpuUsage();
    const result = work();
    const { user, system } = process.cpuUsage(before);
    cpu += (user + system) / 1e6;
    longest = Math.max(longest, (user + system) / 1e6);
    return result;
  };
  const { pass } = timed(() => paper.pass());
  for (const method of METHODS) {
    const { candidates } = timed(() => candidatesFor(method, pass));
    if (candidates.length === 0) continue;
    const work = method.decide(candidates, pass);
    let step = timed(() => work.next());
    while (step.done !== true) step = timed(() => work.next());
    const { coverage } = step.value;
    if (coverage.evaluated < coverage.of) throw new Error(`${method.name} left nodes out`);
    commands += step.value.commands.length;
  }
  return { cpu, longest, commands };
}

export function passes(sizes: readonly number[]): BenchTable {
  const rows: (readonly (string | number)[])[] = [];
  for (const nodes of sizes) {
    const paper = clusterOf(nodes);
    const first = passOver(paper);
    const next = passOver(paper);
    const heap = process.memoryUsage().heapUsed / 2 ** 20;
    const pods = paper.pass().pass.candidates.reduce((sum, candidate) => sum + candidate.pods.length, 0);
    const seconds = [first.cpu, next.cpu].map((cpu) => cpu.toFixed(2));
    rows.push([nodes, pods, ...seconds, next.commands, (next.longest * 1000).toFixed(0), heap.toFixed(0)]);
  }
  return {
    title: 'a whole pass of all methods',
    columns: ['nodes', 'pods', 'first pass cpu s', 'next pass cpu s', 'commands', 'longest piece cpu ms', 'heap MiB'],
    rows,
  };
}
