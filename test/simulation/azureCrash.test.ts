/**
 * A process on Azure that crashes at one chosen write, to the API server or to Azure, and is restarted. Whatever the
 * write: one VM is created, with its interface and disk, the pod runs, and afterwards nothing is left.
 */
import { describe, expect, it } from 'vitest';
import { Kinds } from '../../src/api/kinds.ts';
import { CrashableProcess, type Crash } from '../fixtures/engine/crashableProcess.ts';
import { VirtualAks } from '../fixtures/engine/virtualAks.ts';

const MINUTE = 60_000;
const OURS = /^microsoft\.(?:compute\/virtualmachines|compute\/disks|network\/networkinterfaces)$/;
const MOMENTS = ['before', 'after'] as const;

interface Run {
  readonly writes: readonly string[];
  readonly outcome: object;
}

const EXPECTED = { ran: true, machines: 1, left: [], claims: 0, nodes: 0 };

async function play(crash?: Crash): Promise<Run> {
  const first = new CrashableProcess(crash);
  let current = first;
  const aks = await VirtualAks.start({ seed: 'crash', profile: 'calm', process: () => current });
  const machines = new Set<string>();
  const left = new Set<string>();
  aks.world.arm.onChange((change) => {
    if ('removed' in change) left.delete(change.removed.toLowerCase());
    if (!('resource' in change) || !OURS.test(change.resource.type.toLowerCase())) return;
    left.add(change.resource.id.toLowerCase());
    if (/virtualmachines$/i.test(change.resource.type)) machines.add(change.resource.id.toLowerCase());
  });
  const pass = async (isOver: () => boolean, patience: number): Promise<void> => {
    const end = aks.clock.now() + patience;
    while (aks.clock.now() < end && !isOver()) {
      await aks.clock.runUntil(() => (current === first && first.hasCrashed) || aks.clock.now() >= end || isOver());
      if (current !== first || !first.hasCrashed) continue;
      current = new CrashableProcess();
      await aks.restart();
    }
  };
  try {
    await aks.kube.create(Kinds.Deployment, {
      metadata: { name: 'web', namespace: 'default' },
      spec: {
        replicas: 1,
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web' } },
          spec: { containers: [{ name: 'main', image: 'app', resources: { requests: { cpu: '1', memory: '1Gi' } } }] },
        },
      },
    });
    await pass(() => false, 3 * MINUTE);
    const { items: pods } = await aks.kube.list(Kinds.Pod, { namespace: 'default' });
    const ran = pods.some(({ status }) => status?.phase === 'Running');
    await aks.kube.delete(Kinds.Deployment, { name: 'web', namespace: 'default' });
    await pass(() => false, MINUTE);
    // Leftovers of a crash are found by loops that run every few minutes.
    await pass(() => left.size === 0, 20 * MINUTE);
    await pass(() => false, MINUTE);
    const claims = (await aks.kube.list(Kinds.NodeClaim)).items.length;
    const nodes = (await aks.kube.list(Kinds.Node)).items.length;
    expect(first.hasCrashed).toBe(crash !== undefined);
    return { writes: first.writes, outcome: { ran, machines: machines.size, left: [...left], claims, nodes } };
  } finally {
    await aks.stop();
  }
}

/** Every write from the claim on, those that make or remove something at both moments; or all, at both moments. */
function crashesAt(writes: readonly string[]): readonly Crash[] {
  const isAll = process.env['CRASH_SAMPLES'] === 'all';
  const firstClaim = writes.findIndex((each) => each.startsWith('create NodeClaim'));
  return writes.flatMap((write, at): readonly Crash[] => {
    if (!isAll && at < firstClaim) return [];
    const isWhole = isAll || !write.startsWith('patch');
    return MOMENTS.filter((_, index) => isWhole || at % MOMENTS.length === index).map((moment) => ({ at, moment }));
  });
}

describe('a process on Azure that crashes at a write', { timeout: 3_600_000 }, () => {
  it('leaves nothing that its successor cannot repair', async () => {
    const { writes, outcome } = await play();
    expect(outcome).toEqual(EXPECTED);
    const azure = writes.filter((each) => /^(?:PUT|DELETE)/.test(each));
    expect(azure.length).toBeGreaterThanOrEqual(3);
    const failures: object[] = [];
    for (const crash of crashesAt(writes)) {
      const where = `${crash.moment} write ${crash.at} of ${writes.length} (${writes[crash.at]})`;
      try {
        const run = await play(crash);
        if (JSON.stringify(run.outcome) !== JSON.stringify(EXPECTED)) failures.push({ where, ...run.outcome });
      } catch (error) {
        failures.push({ where, error: String(error) });
      }
    }
    expect(failures).toEqual([]);
  });
});
