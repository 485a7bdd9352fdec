/** `top` in a real terminal: `script` gives the process one, keys go in, and what is drawn comes out. */
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../../test/controlplane/eventually.ts';
import { CliCluster } from '../../test/fixtures/local/cliCluster.ts';

const PATIENCE = 120_000;

let cluster: CliCluster;

beforeAll(async () => {
  cluster = await CliCluster.start();
  await cluster.addPool('default');
  await cluster.addPool('spot');
  await cluster.addNode({ name: 'alpha', pool: 'default', pods: [{ name: 'web', object: {} }] });
  await cluster.addNode({ name: 'beta', pool: 'spot', capacityType: 'spot' });
});
afterAll(() => cluster.stop());

const drawnNow = (output: string): string => output.split('\u001B[H\u001B[J').at(-1) ?? '';

/** The names of the nodes that the last drawing has, from top to bottom. */
const drawn = (output: string): readonly string[] =>
  [...drawnNow(output).matchAll(/^\S*\b(alpha|beta)\b/gm)].map(([, name = '']) => name);

it('sorts, filters and ends by keys, and leaves the terminal as it was', { timeout: 3 * PATIENCE }, async () => {
  const words = [process.execPath, '--import', 'tsx', resolve('src/cli/nodewright.ts'), 'top'];
  const line = [...words, '--kubeconfig', cluster.kubeconfig].map((word) => `'${word}'`).join(' ');
  const child = spawn('script', ['--quiet', '--flush', '--return', '--command', line, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, TERM: 'xterm-256color' },
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = new Promise<number | null>((done) => child.once('close', done));
  const shows = (what: string, names: readonly string[]): Promise<true> =>
    eventually(what, () => (drawn(output).join() === names.join() ? true : undefined), PATIENCE);
  await shows('both nodes', ['alpha', 'beta']);
  expect(output).toContain('\u001B[?1049h');
  expect(output).toContain('pods are being read');
  await eventually('the pods', () => (drawnNow(output).includes('being read') ? undefined : true), PATIENCE);
  child.stdin.write('r');
  await shows('the order turned round', ['beta', 'alpha']);
  child.stdin.write('o');
  child.stdin.write('karpenter.sh/capacity-type\r');
  const heads = (text: string): Promise<true> =>
    eventually(text, () => (output.split('\u001B[H\u001B[J').at(-1)?.includes(text) ? true : undefined), PATIENCE);
  await heads('karpenter.sh/capacity-type v  POOL');
  child.stdin.write('r');
  await heads('karpenter.sh/capacity-type ^  POOL');
  await shows('the order by a label', ['alpha', 'beta']);
  child.stdin.write('/');
  child.stdin.write('karpenter.sh/capacity-type=spot\r');
  await shows('the spot node alone', ['beta']);
  child.stdin.write('q');
  expect(await ended).toBe(0);
  expect(output.trimEnd().endsWith('\u001B[?25h\u001B[?1049l')).toBe(true);
});
