import { afterEach, describe, expect, it } from 'vitest';
import { Kinds, type Pod } from '../../api/kinds.ts';
import type { ApiObject } from '../apiserver/fields.ts';
import { parseFault } from '../faults/faultKinds.ts';
import { container, instance, Simulation } from '../../../test/fixtures/local/simulation.ts';
import { containerLogs } from './containerLogs.ts';

const LOG = '/api/v1/namespaces/default/pods/one/log';

describe('the logs of a container', () => {
  let simulation: Simulation;

  afterEach(() => simulation.stop());

  async function pod(annotations: Record<string, string> = {}, spec: object = {}): Promise<Pod> {
    return simulation.create(Kinds.Pod, {
      metadata: { name: 'one', namespace: 'default', annotations },
      spec: { containers: [container() as { name: string }], ...spec },
    });
  }
  const lines = async (query = ''): Promise<string[]> =>
    String(await simulation.kube.raw(`${LOG}${query}`))
      .trimEnd()
      .split('\n');

  it('are marked as simulated', async () => {
    simulation = new Simulation();
    await simulation.boot(instance('node'));
    await pod();
    await simulation.advance(25_000);
    expect(await lines()).toEqual([
      '[simulated] main (docker.io/library/nginx:latest) starts on node; nothing really runs in it',
      '[simulated] main has been running for 10s',
      '[simulated] main has been running for 20s',
    ]);
    expect(await lines('?tailLines=1')).toEqual(['[simulated] main has been running for 20s']);
    expect(await lines('?sinceSeconds=10')).toHaveLength(1);
    expect(await lines('?limitBytes=11')).toEqual(['[simulated]']);
    expect((await lines('?timestamps=true'))[0]).toMatch(/^2026-01-05T09:\d\d:\d\d\.\d{9}Z \[simulated\] main/);
  });

  it('are limited like a rotated log', async () => {
    simulation = new Simulation();
    await simulation.boot(instance('node'));
    await pod();
    await simulation.advance(4 * 3_600_000);
    const all = await lines();
    expect(all).toHaveLength(1_000);
    expect(all.at(-1)).toMatch(/has been running for 3h\d+m/);
  });

  it('end with the container, and are available for the previous run', async () => {
    simulation = new Simulation();
    await simulation.boot(instance('node'));
    await pod({ 'local.nodewright.dev/run-seconds': '15', 'local.nodewright.dev/exit-code': '3' });
    await simulation.advance(10_000);
    await expect(lines('?previous=true')).rejects.toThrow(
      'previous terminated container "main" in pod "one" not found',
    );
    expect(await lines()).toHaveLength(1);
    await simulation.advance(30_000);
    expect((await lines('?previous=true')).at(-1)).toBe('[simulated] main ends with exit code 3');
  });

  it('are rejected with upstream messages', async () => {
    simulation = new Simulation();
    await simulation.boot(instance('node'));
    await pod();
    await simulation.advance(500);
    await expect(lines()).rejects.toThrow('container "main" in pod "one" is waiting to start: ContainerCreating');
    await expect(lines('?container=other')).rejects.toThrow('container other is not valid for pod one');
    simulation.world.faults.add(parseFault('silent-kubelet node=node'));
    await simulation.advance(5_000);
    await expect(lines()).rejects.toThrow('no kubelet answers for node node');
  });

  it('can be followed until the container ends', async () => {
    simulation = new Simulation();
    await simulation.boot(instance('node'));
    await pod({ 'local.nodewright.dev/run-seconds': '25' }, { restartPolicy: 'Never' });
    await simulation.advance(12_000);
    const read = async (): Promise<Pod & ApiObject> =>
      (await simulation.kube.get(Kinds.Pod, { name: 'one', namespace: 'default' })) as Pod & ApiObject;
    let live: Pod | undefined = await read();
    const kubelets = containerLogs({ clock: simulation.clock, canReport: () => true, pod: () => live });
    const options = { container: 'main', follow: true, previous: false, timestamps: false };
    const rest = { tailLines: 1, limitBytes: undefined, since: undefined };
    const stream = kubelets.logs(await read(), { ...options, ...rest }, new AbortController().signal);
    const seen: string[] = [];
    const reading = (async () => {
      for await (const line of stream ?? []) seen.push(line.trim());
    })();
    for (let second = 0; second < 40; second += 1) {
      await simulation.advance(1_000);
      live = await read();
    }
    await reading;
    expect(seen).toEqual([
      '[simulated] main has been running for 10s',
      '[simulated] main has been running for 20s',
      '[simulated] main ends with exit code 0',
    ]);
  });
});
