/** The lines that `up` greets with, typed into a shell as they stand, far from the folder of the world. */
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { delimiter, dirname } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Kinds } from '../../src/api/kinds.ts';
import { ensureBinaries } from '../controlplane/binaries.ts';
import { eventually } from '../controlplane/eventually.ts';
import { UpProcess, PATIENCE } from '../fixtures/local/upProcess.ts';

/** A watch that works does not end by itself: `timeout` ends it with this code. */
const TIMED_OUT = 124;

const up = new UpProcess('--speed', '5');
let path = '';

beforeAll(async () => {
  path = `${dirname((await ensureBinaries()).kubectl)}${delimiter}${process.env['PATH'] ?? ''}`;
  await up.start();
});
afterAll(() => up.remove());

it('are accepted by kubectl, and what they make runs on nodes that were bought', async () => {
  const [address = '', ...commands] = up.output
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /^(export|kubectl) /.test(line));
  expect(commands).toHaveLength(3);
  let watched = '';
  for (const command of commands) {
    const isWatch = command.includes('--watch');
    const script = `${address}\n${isWatch ? 'timeout 10 ' : ''}${command}`;
    const { status, stdout, stderr } = spawnSync('sh', ['-c', script], {
      cwd: tmpdir(),
      env: { PATH: path, HOME: up.folder },
      encoding: 'utf8',
    });
    expect([command, status, stderr]).toEqual([command, isWatch ? TIMED_OUT : 0, '']);
    if (isWatch) watched = stdout;
  }
  expect(watched).toMatch(/^NAME .*INSTANCE-TYPE +ZONE\n/);
  await eventually(
    'twelve pods run on nodes that were bought',
    async () => {
      const { items } = await up.kube.list(Kinds.Pod, { namespace: 'default' });
      const claims = (await up.kube.list(Kinds.NodeClaim)).items.length;
      const running = items.filter(({ status }) => status?.phase === 'Running').length;
      return claims > 1 && running === 12 && items.length === 12 ? true : undefined;
    },
    PATIENCE,
  );
});
