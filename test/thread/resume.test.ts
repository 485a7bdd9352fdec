/** `up` is killed at any moment, and continues when it is restarted. Real processes, files and sockets. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Kinds, type Node } from '../../src/api/kinds.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { eventually } from '../controlplane/eventually.ts';
import { PATIENCE, UpProcess } from '../fixtures/local/upProcess.ts';

/** Not faster: what a busy machine does slowly must still be in time for the world's own deadlines. */
const SPEED = 3;
/** A node whose lease is not renewed is lost after 40 s of its world. */
const LONGER_THAN_A_LEASE = (60 * 1000) / SPEED;

const identities = (objects: readonly KubeObject[]): string[] =>
  objects.map(({ metadata }) => `${metadata.name} ${metadata.uid}`).sort();

describe('a world that is killed', { timeout: 600_000 }, () => {
  const up = new UpProcess('--speed', String(SPEED));
  const pods = async (): Promise<readonly KubeObject[]> =>
    (await up.kube.list(Kinds.Pod, { namespace: 'default' })).items;
  /** Those that nodewright bought. */
  const nodes = async (): Promise<readonly Node[]> =>
    (await up.kube.list(Kinds.Node, { labelSelector: 'karpenter.sh/nodepool' })).items;
  const sixRun = (): Promise<true> =>
    eventually(
      'six pods run',
      async () => {
        const { items } = await up.kube.list(Kinds.Pod, { namespace: 'default' });
        return items.filter(({ status }) => status?.phase === 'Running').length === 6 ? true : undefined;
      },
      PATIENCE,
    );

  beforeAll(() => up.start(), PATIENCE);
  afterAll(() => up.remove());

  it('goes on with what it was about to do', async () => {
    await up.kube.create(Kinds.Deployment, {
      metadata: { name: 'web', namespace: 'default' },
      spec: {
        replicas: 6,
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web' }, annotations: { 'karpenter.sh/do-not-disrupt': 'true' } },
          spec: {
            containers: [{ name: 'main', image: 'nginx', resources: { requests: { cpu: '900m', memory: '1Gi' } } }],
          },
        },
      },
    });
    await eventually(
      'a VM is asked for',
      async () => ((await up.kube.list(Kinds.NodeClaim)).items.length > 0 ? true : undefined),
      PATIENCE,
    );
    await up.kill();
    await up.start();
    await sixRun();
    const [claims, vms] = await eventually(
      'every claim has its node',
      async () => {
        const claimed = (await up.kube.list(Kinds.NodeClaim)).items
          .map(({ status }) => status?.providerID ?? '')
          .sort();
        const joined = (await nodes()).map(({ spec }) => spec?.providerID ?? '').sort();
        return claimed.includes('') || claimed.length !== joined.length ? undefined : [claimed, joined];
      },
      PATIENCE,
    );
    expect(vms).toEqual(claims);
  });

  it('has the same nodes and the same pods, and they stay', async () => {
    const before = [identities(await nodes()), identities(await pods())];
    await up.kill();
    // Simulates half-written data at the time of death.
    for (const file of ['cluster.jsonl', 'azure.jsonl']) {
      appendFileSync(join(up.folder, 'worlds', 'quiet', file), '{"resource":{"id":"/subscr');
    }
    await up.start();
    expect(up.output).toContain('goes on');
    expect([identities(await nodes()), identities(await pods())]).toEqual(before);
    await new Promise((resolve) => setTimeout(resolve, LONGER_THAN_A_LEASE));
    expect([identities(await nodes()), identities(await pods())]).toEqual(before);
    for (const { status, spec } of await nodes()) {
      expect(status?.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('True');
      expect(spec?.taints ?? []).toEqual([]);
    }
  });

  it('deletes its VMs as if it had never stopped', async () => {
    await up.kill();
    await up.start();
    await up.kube.delete(Kinds.Deployment, { name: 'web', namespace: 'default' });
    await up.kube.deleteCollection(Kinds.NodeClaim, {});
    const left = await eventually(
      'nothing is left',
      async () => {
        const count = (await nodes()).length + (await up.kube.list(Kinds.NodeClaim)).items.length;
        return count === 0 ? count : undefined;
      },
      PATIENCE,
    );
    expect(left).toBe(0);
  });

  it('refuses the state of another version in one sentence, and starts anew when told to', async () => {
    await up.kube.create(Kinds.ConfigMap, { metadata: { name: 'old', namespace: 'default' } } as never);
    await up.kill();
    const file = join(up.folder, 'worlds', 'quiet', 'world.json');
    const memory = JSON.parse(readFileSync(file, 'utf8')) as object;
    writeFileSync(file, JSON.stringify({ ...memory, nodewrightWorld: 99 }));
    up.launch();
    expect(await up.ended).toBe(1);
    expect(up.output).toMatch(
      /^nodewright: .*world\.json was written by another version of nodewright: its format is 99, and this version reads 1; start anew with --fresh, or give another --state-dir \[WorldUnusable\]\n$/,
    );
    await up.start('--fresh');
    expect(up.output).not.toContain('goes on');
    const { items } = await up.kube.list(Kinds.ConfigMap, { namespace: 'default' });
    expect(items.map(({ metadata }) => metadata.name)).not.toContain('old');
  });
});
