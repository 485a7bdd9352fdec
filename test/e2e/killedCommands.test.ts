/** Commands that turn node auto-provisioning on and off, hand it over or empty agent pools, killed by a signal after each of its steps: given again, it goes on and ends well. */
import { spawn } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Kinds } from '../../src/api/kinds.ts';
import { eventually } from '../controlplane/eventually.ts';
import { PATIENCE, UpProcess } from '../fixtures/local/upProcess.ts';
import { BINARY } from './azureProgram.ts';

const IMAGE = ['--image', 'images/nodewright'];
const LIMIT = 600_000;
/** More than any command has steps. */
const MOST_RUNS = 40;

describe('a command that is killed', () => {
  const up = new UpProcess('--speed', '5');
  const place = ['--resource-group', 'local', '--name', 'local', '--state-dir', up.folder];

  beforeAll(() => up.start(), PATIENCE);
  afterAll(() => up.remove());

  /** Runs the program; with `kills`, until the first step that it makes. */
  const run = (words: readonly string[], kills: boolean): Promise<{ isKilled: boolean; output: string }> => {
    const child = spawn(process.execPath, [BINARY, ...words, ...place], { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const hear = (text: Buffer): void => {
      output += String(text);
      if (kills && /^made /m.test(output)) child.kill('SIGKILL');
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    return new Promise((resolve, reject) =>
      child.once('close', (code, signal) => {
        if (signal === null && code !== 0) reject(new Error(`${words.join(' ')} ended with ${code}: ${output}`));
        else resolve({ isKilled: signal === 'SIGKILL', output });
      }),
    );
  };
  /** Killed after each step, until nothing is left to do; how often. */
  const killAtEachStep = async (...words: readonly string[]): Promise<number> => {
    for (let kills = 0; kills < MOST_RUNS; kills += 1) {
      if (!(await run(words, true)).isKilled) return kills;
    }
    throw new Error(`${words.join(' ')} does not end`);
  };
  const appsNodes = (count: number): Promise<unknown> =>
    eventually(
      `the pool apps has ${count} nodes`,
      async () =>
        (await up.kube.list(Kinds.Node, { labelSelector: 'agentpool=apps' })).items.length === count ? true : undefined,
      PATIENCE,
    );
  const status = async (): Promise<object> =>
    JSON.parse((await run(['aks', 'status', '-o', 'json'], false)).output) as object;

  it('turns node auto-provisioning off and on', { timeout: LIMIT }, async () => {
    const disable = ['aks', 'disable', '--drain', '--add-pool', 'apps=2xStandard_D2s_v5'];
    expect(await killAtEachStep(...disable)).toBeGreaterThan(3);
    expect(await status()).toMatchObject({ mode: 'off' });
    await appsNodes(2);
    expect(await killAtEachStep('aks', 'enable', '--managed')).toBeGreaterThan(1);
    expect(await status()).toMatchObject({ mode: 'managed', isReady: true });
  });

  it('scales an agent pool down in waves, and up again', { timeout: LIMIT }, async () => {
    expect(await killAtEachStep('migrate', 'agent-pools', '--pool', 'apps', '--all')).toBeGreaterThan(2);
    await appsNodes(0);
    expect(await killAtEachStep('migrate', 'agent-pools', '--all', '--back')).toBeGreaterThan(2);
    await appsNodes(2);
  });

  it('goes from managed to self-hosted, back, and out', { timeout: LIMIT }, async () => {
    expect(await killAtEachStep('migrate', 'self-hosted', '--drain', ...IMAGE)).toBeGreaterThan(6);
    expect(await status()).toMatchObject({ mode: 'self-hosted', isReady: true });
    expect(await killAtEachStep('migrate', 'managed')).toBeGreaterThan(2);
    expect(await status()).toMatchObject({ mode: 'managed', isReady: true });
    await killAtEachStep('aks', 'disable', '--drain');
    expect(await killAtEachStep('aks', 'enable', ...IMAGE)).toBeGreaterThan(2);
    expect(await status()).toMatchObject({ mode: 'self-hosted', isReady: true });
    expect(await killAtEachStep('aks', 'disable', '--drain')).toBeGreaterThan(2);
    expect(await status()).toMatchObject({ mode: 'off' });
  });

  it('takes a Karpenter over', { timeout: LIMIT }, async () => {
    const metadata = { name: 'karpenter', namespace: 'kube-system' };
    const labels = { app: 'karpenter' };
    await up.kube.create(Kinds.ServiceAccount, { metadata });
    await up.kube.create(Kinds.Deployment, {
      metadata,
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { serviceAccountName: 'karpenter', containers: [{ name: 'controller', image: 'karpenter:1.14.1' }] },
        },
      },
    });
    expect(await killAtEachStep('migrate', 'karpenter', ...IMAGE)).toBeGreaterThan(1);
    expect(await status()).toMatchObject({ mode: 'self-hosted', isReady: true });
    expect((await up.kube.get(Kinds.Deployment, metadata)).spec?.replicas).toBe(0);
  });
});
