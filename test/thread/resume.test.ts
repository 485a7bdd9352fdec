/** `up` that is killed at any moment, and goes on when it is started again. Real processes, files and sockets. */
import { spawn, type ChildProcess } from 'node:child_process';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Kinds } from '../../src/api/kinds.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { SystemClock } from '../../src/clock/systemClock.ts';
import { systemRandom } from '../../src/clock/systemRandom.ts';
import { HttpKube } from '../../src/kube/httpKube.ts';
import { loadKubeconfig } from '../../src/kube/kubeconfig.ts';
import type { Kube } from '../../src/kube/kube.ts';
import { eventually } from '../controlplane/eventually.ts';

const PATIENCE = 140_000;
/** Not faster: what a busy machine does slowly must still be in time for the world's own deadlines. */
const SPEED = 3;
/** A node whose lease is not renewed is lost after 40 s of its world. */
const LONGER_THAN_A_LEASE = (60 * 1000) / SPEED;

const identities = (objects: readonly KubeObject[]): string[] =>
  objects.map(({ metadata }) => `${metadata.name} ${metadata.uid}`).sort();

describe('a world that is killed', { timeout: 600_000 }, () => {
  let folder: string;
  let running: { readonly child: ChildProcess; readonly output: () => string; readonly ended: Promise<number | null> };
  let kube: Kube;

  const launch = (...extra: readonly string[]): void => {
    const args = ['up', '--headless', '--state-dir', folder, '--speed', String(SPEED), ...extra];
    const child = spawn(process.execPath, ['--import', 'tsx', 'src/cli/nodewright.ts', ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += String(text)));
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    running = { child, output: () => output, ended };
  };
  const start = async (...extra: readonly string[]): Promise<void> => {
    rmSync(join(folder, 'kubeconfig'), { force: true });
    launch(...extra);
    const path = join(folder, 'kubeconfig');
    kube = await eventually(
      'the API answers',
      async () => {
        if (running.child.exitCode !== null) throw new Error(`it ended: ${running.output()}`);
        if (!existsSync(path)) return undefined;
        const client = new HttpKube({
          config: await loadKubeconfig({ path }),
          clock: new SystemClock(),
          random: systemRandom,
        });
        await client.raw('/readyz');
        return running.output().includes('export KUBECONFIG') ? client : undefined;
      },
      PATIENCE,
    );
  };
  const kill = async (): Promise<void> => {
    running.child.kill('SIGKILL');
    await running.ended;
  };
  const pods = async (): Promise<readonly KubeObject[]> => (await kube.list(Kinds.Pod, { namespace: 'default' })).items;
  const nodes = async (): Promise<readonly KubeObject[]> => (await kube.list(Kinds.Node)).items;
  const sixRun = (): Promise<true> =>
    eventually(
      'six pods run',
      async () => {
        const { items } = await kube.list(Kinds.Pod, { namespace: 'default' });
        return items.filter(({ status }) => status?.phase === 'Running').length === 6 ? true : undefined;
      },
      PATIENCE,
    );

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'nodewright-resume-'));
    await start();
  }, PATIENCE);
  afterAll(async () => {
    await kill();
    rmSync(folder, { recursive: true, force: true });
  });

  it('goes on with what it was about to do', async () => {
    await kube.create(Kinds.Deployment, {
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
      'a machine is asked for',
      async () => ((await kube.list(Kinds.NodeClaim)).items.length > 0 ? true : undefined),
      PATIENCE,
    );
    await kill();
    await start();
    await sixRun();
    const [claims, machines] = await eventually(
      'every claim has its node',
      async () => {
        const claimed = (await kube.list(Kinds.NodeClaim)).items.map(({ status }) => status?.providerID ?? '').sort();
        const joined = (await kube.list(Kinds.Node)).items.map(({ spec }) => spec?.providerID ?? '').sort();
        return claimed.includes('') || claimed.length !== joined.length ? undefined : [claimed, joined];
      },
      PATIENCE,
    );
    expect(machines).toEqual(claims);
  });

  it('has the same nodes and the same pods, and they stay', async () => {
    const before = [identities(await nodes()), identities(await pods())];
    await kill();
    // Whatever was being written when it died is half there.
    for (const file of ['cluster.jsonl', 'azure.jsonl']) {
      appendFileSync(join(folder, 'worlds', 'quiet', file), '{"resource":{"id":"/subscr');
    }
    await start();
    expect(running.output()).toContain('goes on');
    expect([identities(await nodes()), identities(await pods())]).toEqual(before);
    await new Promise((resolve) => setTimeout(resolve, LONGER_THAN_A_LEASE));
    expect([identities(await nodes()), identities(await pods())]).toEqual(before);
    for (const { status, spec } of (await kube.list(Kinds.Node)).items) {
      expect(status?.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('True');
      expect(spec?.taints ?? []).toEqual([]);
    }
  });

  it('lets its machines go as if nothing had been', async () => {
    await kill();
    await start();
    await kube.delete(Kinds.Deployment, { name: 'web', namespace: 'default' });
    await kube.deleteCollection(Kinds.NodeClaim, {});
    const left = await eventually(
      'nothing is left',
      async () => {
        const count = (await nodes()).length + (await kube.list(Kinds.NodeClaim)).items.length;
        return count === 0 ? count : undefined;
      },
      PATIENCE,
    );
    expect(left).toBe(0);
  });

  it('refuses the state of another version in one sentence, and starts anew when told to', async () => {
    await kube.create(Kinds.ConfigMap, { metadata: { name: 'old', namespace: 'default' } } as never);
    await kill();
    const file = join(folder, 'worlds', 'quiet', 'world.json');
    const memory = JSON.parse(readFileSync(file, 'utf8')) as object;
    writeFileSync(file, JSON.stringify({ ...memory, nodewrightWorld: 99 }));
    launch();
    expect(await running.ended).toBe(1);
    expect(running.output()).toMatch(
      /^nodewright: .*world\.json was written by another version of nodewright: its format is 99, and this version reads 1; start anew with --fresh, or give another --state-dir\n$/,
    );
    await start('--fresh');
    expect(running.output()).not.toContain('goes on');
    const { items } = await kube.list(Kinds.ConfigMap, { namespace: 'default' });
    expect(items.map(({ metadata }) => metadata.name)).not.toContain('old');
  });
});
