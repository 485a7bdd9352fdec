/** `kubectl nodewright …` with the real kubectl: the plug-in is found, gets its arguments, and passes its exit code on. */
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ensureBinaries } from '../controlplane/binaries.ts';
import { runKubectl, type KubectlResult } from '../controlplane/kubectl.ts';
import { CliCluster } from '../fixtures/local/cliCluster.ts';

let cluster: CliCluster;
let program: string;
let plugins: string;

beforeAll(async () => {
  program = (await ensureBinaries()).kubectl;
  cluster = await CliCluster.start();
  await cluster.addPool('default');
  await cluster.addNode({ name: 'one', pool: 'default', pods: [{ name: 'web', object: {} }] });
  plugins = join(cluster.folder, 'plugins');
  await mkdir(plugins);
  const file = join(plugins, 'kubectl-nodewright');
  const words = [process.execPath, '--import', 'tsx', resolve('src/cli/nodewright.ts')];
  await writeFile(file, `#!/bin/sh\nexec ${words.map((word) => `'${word}'`).join(' ')} "$@"\n`);
  await chmod(file, 0o755);
});
afterAll(() => cluster.stop());

const kubectl = (...args: readonly string[]): Promise<KubectlResult> =>
  runKubectl(program, cluster.folder, args, {
    kubeconfig: cluster.kubeconfig,
    timeoutMilliseconds: 240_000,
    environment: { PATH: `${plugins}${delimiter}${process.env['PATH'] ?? ''}` },
  });

it('is listed, reads the cluster that kubectl means, and ends as the command does', async () => {
  expect((await kubectl('plugin', 'list')).stdout).toContain('kubectl-nodewright');
  const top = await kubectl('nodewright', 'top', '--once', '-o', 'json');
  expect(top.code).toBe(0);
  expect(JSON.parse(top.stdout)).toMatchObject({ nodes: [{ name: 'one', nodePool: 'default' }] });
  const wrong = await kubectl('nodewright', 'top', '--output', 'colour');
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain('Allowed choices are');
});
