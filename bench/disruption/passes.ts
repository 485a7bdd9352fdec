/** Cost of a complete pass over a large cluster: every method, every node, yielding the thread in between. */
import { Labels } from '../../src/api/labels.ts';
import { candidatesFor } from '../../src/disruption/method.ts';
import { METHODS } from '../../src/disruption/methods.ts';
import { SystemClock } from '../../src/clock/systemClock.ts';
import { inSlices } from '../../src/controllers/disruption/slices.ts';
import { defaultCatalogue } from '../../src/kwok/defaultCatalogue.ts';
import { KwokLabels } from '../../src/kwok/kwokLabels.ts';
import { PaperCluster } from '../../test/fixtures/disruption/paperCluster.ts';
import { Hold } from '../hold.ts';
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
  /** CPU seconds. */
  readonly cpu: number;
  readonly commands: number;
}

function passOver(paper: PaperCluster): Cost {
  let [cpu, commands] = [0, 0];
  const timed = <T>(work: () => T): T => {
    const before = process.cpuUsage();
    const result = work();
    const { user, system } = process.cpuUsage(before);
    cpu += (user + system) / 1e6;
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
  return { cpu, commands };
}

/** Milliseconds of CPU time for which events wait at most while the loop makes a pass as in the program. */
async function lagOf(paper: PaperCluster): Promise<number> {
  const clock = new SystemClock();
  const { signal } = new AbortController();
  const hold = new Hold();
  const { pass } = paper.pass();
  await clock.sleep(0, signal);
  for (const method of METHODS) {
    const { candidates } = candidatesFor(method, pass);
    if (candidates.length > 0) await inSlices(method.decide(candidates, pass), clock, signal);
  }
  return hold.end();
}

export async function passes(sizes: readonly number[]): Promise<BenchTable> {
  const rows: (readonly (string | number)[])[] = [];
  for (const nodes of sizes) {
    const paper = clusterOf(nodes);
    const first = passOver(paper);
    const next = passOver(paper);
    const lag = await lagOf(paper);
    const heap = process.memoryUsage().heapUsed / 2 ** 20;
    const pods = paper.pass().pass.candidates.reduce((sum, candidate) => sum + candidate.pods.length, 0);
    const seconds = [first.cpu, next.cpu].map((cpu) => cpu.toFixed(2));
    rows.push([nodes, pods, ...seconds, next.commands, lag.toFixed(0), heap.toFixed(0)]);
  }
  return {
    title: 'a whole pass of all methods',
    columns: ['nodes', 'pods', 'first pass cpu s', 'next pass cpu s', 'commands', 'event lag cpu ms', 'heap MiB'],
    notes: ['goal: 2,000 nodes in at most 1 s, and no event waits for longer than 100 ms'],
    rows,
  };
}
