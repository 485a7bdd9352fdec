/** A cluster that is stopped and resumed from its file. */
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Kinds } from '../../api/kinds.ts';
import { systemRandom } from '../../clock/systemRandom.ts';
import { VirtualClock } from '../../clock/virtualClock.ts';
import { LocalApiServer } from './localApiServer.ts';

const REF = { name: 'settings', namespace: 'default' };

describe('a state file', () => {
  let folder: string;
  let file: string;
  const running: LocalApiServer[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'nodewright-state-'));
    file = join(folder, 'cluster.jsonl');
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map(async (server) => await server.close()));
    rmSync(folder, { recursive: true, force: true });
  });

  const start = (): LocalApiServer => {
    const server = new LocalApiServer({ clock: new VirtualClock(), random: systemRandom, stateFile: file });
    running.push(server);
    return server;
  };
  const stop = async (server: LocalApiServer): Promise<void> => {
    running.splice(running.indexOf(server), 1);
    await server.close();
  };
  const settings = (data: Record<string, string>): object => ({ metadata: REF, data });

  it('restores every object unchanged, including uid and resource version', async () => {
    const first = start();
    await first.kube.create(Kinds.ConfigMap, settings({ a: '1' }) as never);
    await first.kube.patch(Kinds.ConfigMap, REF, { type: 'merge', body: { data: { b: '2' } } });
    await first.kube.create(Kinds.ConfigMap, { metadata: { ...REF, name: 'gone' } } as never);
    await first.kube.delete(Kinds.ConfigMap, { ...REF, name: 'gone' });
    const before = await first.kube.list(Kinds.ConfigMap);
    const services = await first.kube.list(Kinds.Service);
    await stop(first);
    const second = start();
    expect((await second.kube.list(Kinds.ConfigMap)).items).toEqual(before.items);
    expect((await second.kube.list(Kinds.Service)).items).toEqual(services.items);
    const written = await second.kube.create(Kinds.ConfigMap, { metadata: { ...REF, name: 'new' } } as never);
    expect(Number(written.metadata.resourceVersion)).toBeGreaterThan(Number(before.metadata.resourceVersion));
  });

  it('rejects watches from revisions of the earlier process', async () => {
    const first = start();
    const { metadata } = await first.kube.create(Kinds.ConfigMap, settings({}) as never);
    await first.kube.delete(Kinds.ConfigMap, REF);
    await stop(first);
    const events = start().kube.watch(Kinds.ConfigMap, { resourceVersion: metadata.resourceVersion ?? '' });
    await expect(events[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 410 });
  });

  it('restores owner references for the garbage collector', async () => {
    const first = start();
    const owner = await first.kube.create(Kinds.ConfigMap, settings({}) as never);
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: REF.name, uid: owner.metadata.uid ?? '' }];
    await first.kube.create(Kinds.ConfigMap, { metadata: { ...REF, name: 'child', ownerReferences } } as never);
    await stop(first);
    const second = start();
    await second.kube.delete(Kinds.ConfigMap, REF);
    await Promise.resolve();
    expect((await second.kube.list(Kinds.ConfigMap, { namespace: 'default' })).items).toEqual([]);
  });

  it('drops an incomplete last line', async () => {
    const first = start();
    await first.kube.create(Kinds.ConfigMap, settings({ a: '1' }) as never);
    await stop(first);
    appendFileSync(file, '{"table":"configmaps","key":"default/settings","revision":999,"obj');
    expect((await start().kube.get(Kinds.ConfigMap, REF)).data).toEqual({ a: '1' });
  });

  it('rejects a file that is damaged in the middle, or of another program', async () => {
    await stop(start());
    const lines = readFileSync(file, 'utf8').split('\n');
    writeFileSync(file, [lines[0], '{"torn', ...lines.slice(1)].join('\n'));
    expect(() => start()).toThrow('is damaged after byte');
    writeFileSync(file, '{"some":"thing"}\n');
    expect(() => start()).toThrow('no state file of nodewright');
  });

  it('has a size bounded by that of the cluster after many changes', async () => {
    const server = start();
    const large = 'x'.repeat(200_000);
    await server.kube.create(Kinds.ConfigMap, settings({ large }) as never);
    for (let round = 0; round < 300; round++) {
      await server.kube.patch(Kinds.ConfigMap, REF, { type: 'merge', body: { data: { round: String(round) } } });
    }
    await stop(server);
    // 60 MB were written; compaction starts at 16.
    expect(statSync(file).size).toBeLessThan(20_000_000);
    expect((await start().kube.get(Kinds.ConfigMap, REF)).data?.['round']).toBe('299');
  });
});
