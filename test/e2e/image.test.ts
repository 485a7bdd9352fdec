import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, mkdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseYaml } from '../../src/api/yaml/parseYaml.ts';
import { build } from '../../scripts/build.mjs';
import { renderChart } from '../../src/aks/renderChart.ts';

const ROOT = join(import.meta.dirname, '../..');
const RELEASE = { Name: 'nodewright', Namespace: 'kube-system' };

interface Instruction {
  readonly word: string;
  readonly rest: string;
}

/** The stages of the Dockerfile, each from its FROM on. */
async function readStages(): Promise<readonly (readonly Instruction[])[]> {
  const text = await readFile(join(ROOT, 'Dockerfile'), 'utf8');
  const instructions = text
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => ({ word: line.slice(0, line.indexOf(' ')), rest: line.slice(line.indexOf(' ') + 1) }));
  const starts = instructions.flatMap(({ word }, at) => (word === 'FROM' ? [at] : []));
  return starts.map((start, at) => instructions.slice(start, starts[at + 1]));
}

const of = (stage: readonly Instruction[] | undefined, word: string): readonly string[] =>
  (stage ?? []).filter((instruction) => instruction.word === word).map(({ rest }) => rest);

/** There is no Docker engine where tests run: what the image is made of is put together by hand, and run. */
describe('the image', () => {
  let stages: Awaited<ReturnType<typeof readStages>>;
  let image: string;

  beforeAll(async () => {
    stages = await readStages();
    image = await mkdtemp(join(tmpdir(), 'nodewright-image-'));
    await build();
    for (const copy of of(stages.at(-1), 'COPY')) {
      const [from = '', to = ''] = copy.replace('--from=build ', '').split(' ');
      const target = join(image, of(stages.at(-1), 'WORKDIR')[0] ?? '', to, to.endsWith('./') ? 'package.json' : '');
      await mkdir(dirname(target), { recursive: true });
      await cp(join(ROOT, from.replace(/^\/build\//, '')), target, { recursive: true });
    }
  });
  afterAll(() => rm(image, { recursive: true, force: true }));

  it('is built from files that are there', () => {
    const sources = of(stages[0], 'COPY').flatMap((copy) => copy.split(' ').slice(0, -1));
    expect(sources).toEqual(['package.json', 'package-lock.json', 'scripts', 'src']);
    expect(sources.filter((source) => !existsSync(join(ROOT, source)))).toEqual([]);
    expect(of(stages[0], 'RUN').at(-1)).toBe('node scripts/build.mjs');
  });

  it('runs what the chart asks of it, from nothing but what was copied', async () => {
    const [program = '', ...entry] = (JSON.parse(of(stages.at(-1), 'ENTRYPOINT')[0] ?? '[]') as string[]).map((word) =>
      word.startsWith('/') ? join(image, word) : word,
    );
    expect(program).toBe('node');
    const run = async (...args: string[]): Promise<string> =>
      (await promisify(execFile)(process.execPath, [...entry, ...args], { cwd: image, env: {} })).stdout;
    const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    expect(await run('version')).toContain(version);
    const deployment = renderChart(
      join(ROOT, 'charts/nodewright'),
      { image: { repository: 'nodewright' } },
      RELEASE,
    ).find(({ kind }) => kind === 'Deployment') as unknown as {
      spec: { template: { spec: { containers: { args: string[]; ports: object[] }[] } } };
    };
    const [container] = deployment.spec.template.spec.containers;
    expect(await run(...(container?.args ?? []), '--help')).toContain('--cloud-provider');
    const ports = of(stages.at(-1), 'EXPOSE')[0]?.split(' ').map(Number);
    expect(container?.ports.map((port) => (port as { containerPort: number }).containerPort)).toEqual(ports);
  });

  it('belongs to the user that the chart opens its volumes for, and has the version that the chart wants', async () => {
    const chart = await readFile(join(ROOT, 'charts/nodewright/templates/deployment.yaml'), 'utf8');
    expect(of(stages.at(-1), 'USER')).toEqual(['65532:65532']);
    expect(chart).toContain('runAsUser: 65532');
    const values = parseYaml(await readFile(join(ROOT, 'charts/nodewright/values.yaml'), 'utf8')) as {
      image: { tag: string };
      podSecurityContext: { fsGroup: number };
    };
    expect(values.podSecurityContext.fsGroup).toBe(65532);
    const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    expect(values.image.tag).toBe(version);
  });
});
