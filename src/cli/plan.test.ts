import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { build } from '../../scripts/build.mjs';
import { parseYaml } from '../api/yaml/parseYaml.ts';
import type { PlanReport } from '../plan/planReport.ts';

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The bundle as a user runs it, in a process of its own. */
function nodewright(args: readonly string[], stdin = ''): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['dist/nodewright.js', ...args], {
      env: { PATH: process.env['PATH'] },
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
    child.stdin.end(stdin);
  });
}

const deployment = (name: string, replicas: number, requests: string): string => `apiVersion: apps/v1
kind: Deployment
metadata: { name: ${name}, namespace: shop }
spec:
  replicas: ${replicas}
  template:
    metadata: { labels: { app: ${name} } }
    spec:
      containers:
        - name: main
          resources: { requests: { ${requests} } }
`;

const POOLS = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: { name: spot }
spec:
  template:
    spec:
      nodeClassRef: { group: karpenter.azure.com, kind: AKSNodeClass, name: linux }
      requirements:
        - { key: karpenter.sh/capacity-type, operator: In, values: [spot] }
        - { key: karpenter.azure.com/sku-family, operator: In, values: [D, E] }
---
apiVersion: karpenter.azure.com/v1beta1
kind: AKSNodeClass
metadata: { name: linux }
spec: { imageFamily: AzureLinux }
`;

describe('nodewright plan', () => {
  let folder = '';
  beforeAll(async () => {
    await build();
    folder = await mkdtemp(join(tmpdir(), 'nodewright-plan-'));
    await mkdir(join(folder, 'shop/.git'), { recursive: true });
    await writeFile(join(folder, 'shop/web.yaml'), deployment('web', 4, 'cpu: 1, memory: 2Gi'));
    await writeFile(join(folder, 'shop/more.yml'), deployment('api', 2, 'cpu: 500m, memory: 1Gi'));
    await writeFile(join(folder, 'shop/README.md'), '{{ not a manifest');
    await writeFile(join(folder, 'shop/.git/config.yaml'), '{{ not a manifest');
    await writeFile(join(folder, 'pools.yaml'), POOLS);
    await writeFile(
      join(folder, 'bad.yaml'),
      `${deployment('ok', 1, 'cpu: 1')}---\n${deployment('bad', 1, 'cpu: -1')}`,
    );
    await writeFile(join(folder, 'huge.yaml'), deployment('huge', 2, 'cpu: 100k'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('prices a folder with the default pool', async () => {
    const { code, stdout, stderr } = await nodewright(['plan', '-f', join(folder, 'shop'), '-o', 'json']);
    expect([code, stderr]).toEqual([0, "No NodePool is given: planned with AKS's default one (family D, amd64).\n"]);
    const report = JSON.parse(stdout) as PlanReport;
    expect(Object.keys(report)).toEqual([
      'nodes',
      'unschedulable',
      'costPerHour',
      'lowerBoundPerHour',
      'gap',
      'solveMillis',
    ]);
    expect(report.nodes.flatMap(({ pods }) => pods).sort()).toEqual([
      'shop/api-0',
      'shop/api-1',
      'shop/web-0',
      'shop/web-1',
      'shop/web-2',
      'shop/web-3',
    ]);
    const sum = report.nodes.reduce((total, { pricePerHour }) => total + pricePerHour, 0);
    expect(report.costPerHour).toBeCloseTo(sum, 6);
    expect(report.lowerBoundPerHour).toBeLessThanOrEqual(report.costPerHour);
    for (const node of report.nodes) {
      expect(Object.keys(node)).toEqual([
        'nodePool',
        'instanceType',
        'zone',
        'capacityType',
        'pricePerHour',
        'pods',
        'alternatives',
      ]);
      expect(node).toMatchObject({ nodePool: 'default', capacityType: 'on-demand' });
      expect(node.instanceType).toMatch(/^Standard_D/);
      for (const other of node.alternatives) {
        expect(other.pricePerHour).toBeGreaterThanOrEqual(node.pricePerHour);
        expect(other.instanceType).not.toBe(node.instanceType);
      }
    }
  });

  it('reads standard input, pools and another region, and prints YAML', async () => {
    const args = ['plan', '-f', '-', '--nodepools', join(folder, 'pools.yaml'), '--region', 'westeurope', '-o', 'yaml'];
    const { code, stdout, stderr } = await nodewright(args, deployment('web', 3, 'cpu: 2, memory: 14Gi'));
    expect([code, stderr]).toEqual([0, '']);
    const { nodes } = parseYaml(stdout) as PlanReport;
    expect(nodes.map(({ nodePool, capacityType }) => [nodePool, capacityType])).toEqual(
      nodes.map(() => ['spot', 'spot']),
    );
    expect(nodes.every(({ zone }) => zone === '0' || zone.startsWith('westeurope-'))).toBe(true);
  });

  it('plans with the catalogue that `catalog export` wrote as with the bundled one', async () => {
    const exported = await nodewright(['catalog', 'export', '--region', 'westeurope']);
    expect([exported.code, exported.stderr]).toEqual([0, '']);
    const catalogue = join(folder, 'catalogue.json');
    await writeFile(catalogue, exported.stdout);
    const args = ['plan', '-f', join(folder, 'shop'), '-o', 'json'];
    const [bundled, given] = await Promise.all([
      nodewright([...args, '--region', 'westeurope']),
      nodewright([...args, '--catalog', catalogue]),
    ]);
    const withoutTime = ({ stdout }: Outcome): object => ({ ...(JSON.parse(stdout) as PlanReport), solveMillis: 0 });
    expect(withoutTime(given)).toEqual(withoutTime(bundled));
  });

  it('plans what it can, and fails for the rest', async () => {
    const { code, stdout, stderr } = await nodewright(['plan', '-f', join(folder, 'bad.yaml'), '-o', 'json']);
    expect(code).toBe(1);
    expect(stderr).toBe(
      `${join(folder, 'bad.yaml')}:23: Deployment shop/bad: spec.template.spec.containers[0].resources.requests.cpu: -1 must not be negative
No NodePool is given: planned with AKS's default one (family D, amd64).
nodewright: 1 mistake in the input; correct what the messages above name [PlanChecksFailed]
`,
    );
    expect((JSON.parse(stdout) as PlanReport).nodes.flatMap(({ pods }) => pods)).toEqual(['shop/ok-0']);
  });

  it('warns of kinds that a plan does not know, and fails for them with --strict', async () => {
    const widget = `${deployment('web', 1, 'cpu: 1')}---\napiVersion: example.com/v1\nkind: Widget\nmetadata: { name: w }\n`;
    const warning = 'Widget (example.com/v1) is not a kind that a plan knows; left out with its pods';
    const lenient = await nodewright(['plan', '-f', '-'], widget);
    expect([lenient.code, lenient.stderr]).toEqual([0, expect.stringContaining(`warning: ${warning}\n`)]);
    const strict = await nodewright(['plan', '-f', '-', '--strict'], widget);
    expect([strict.code, strict.stderr]).toEqual([1, expect.stringContaining('1 mistake in the input')]);
    expect(strict.stdout).toBe(lenient.stdout);
  });

  it('tells why pods have no place, and lets a pipeline fail for it', async () => {
    const files = ['plan', '-f', join(folder, 'huge.yaml'), join(folder, 'shop')];
    const lenient = await nodewright(files);
    expect(lenient.code).toBe(0);
    expect(lenient.stdout).toMatch(/^6 pods on \d nodes?: \$0\.\d{4} per hour/);
    expect(lenient.stdout).toContain('2 pods cannot be placed:\n  shop/huge (2 pods)\n    NodePool "default": ');
    const strict = await nodewright([...files, '--fail-on', 'unschedulable,cost-above=0.01']);
    expect(strict.code).toBe(1);
    expect(strict.stderr).toMatch(
      /\nnodewright: 2 pods cannot be placed; \$0\.\d+ per hour is above \$0.01; correct what the plan and the messages above name, or change --fail-on \[PlanChecksFailed\]\n$/,
    );
    const rich = await nodewright([...files, '--fail-on', 'cost-above=100']);
    expect(rich.code).toBe(0);
  });

  it('explains its choice', async () => {
    const { stdout } = await nodewright(['plan', '-f', join(folder, 'shop'), '--explain']);
    expect(stdout).toContain('\nNode 1: Standard_D');
    expect(stdout).toContain('\nThe lower bound: ');
  });

  it.each([
    [['plan'], 'nodewright: nothing to plan; name manifests with -f, or - for standard input [NothingToPlan]\n'],
    [
      ['plan', '-f', '/nowhere'],
      'nodewright: /nowhere: cannot read this manifest: there is no such file; give the path of a file that this process may read [FileUnreadable]\n',
    ],
    [
      ['plan', '-f', '-', '--catalog', '/nope'],
      'nodewright: /nope: cannot read this catalogue: there is no such file; give the path of a file that this process may read [FileUnreadable]\n',
    ],
    [
      ['plan', '-f', '-', '--fail-on', 'bad-weather'],
      "nodewright: option '--fail-on <condition>' argument 'bad-weather' is invalid. It is unschedulable or cost-above=N, N dollars per hour; see `nodewright plan --help` [InvalidUsage]\n",
    ],
    [
      ['plan', '-f', '-', '--region', 'atlantis'],
      "nodewright: option '--region <region>' argument 'atlantis' is invalid. Allowed choices are eastus, southcentralus, swedencentral, uksouth, westeurope, westus2; see `nodewright plan --help` [InvalidUsage]\n",
    ],
    [
      ['plan', '-f', '-', '--max-cost-increase', '5'],
      'nodewright: --max-cost-increase does nothing without --live or --snapshot; see `nodewright plan --help` [InvalidUsage]\n',
    ],
    [
      ['plan', '-f', '-', '--context', 'a'],
      'nodewright: --context does nothing without --live; see `nodewright plan --help` [InvalidUsage]\n',
    ],
    [
      ['plan', '-f', '-', '--live', '--explain'],
      "nodewright: option '--explain' cannot be used with option '--live'; see `nodewright plan --help` [InvalidUsage]\n",
    ],
    [
      ['plan', '-f', '-', '--snapshot', 'a', '--node-overhead-cost', '1'],
      "nodewright: option '--node-overhead-cost <number>' cannot be used with option '--snapshot <file>'; see `nodewright plan --help` [InvalidUsage]\n",
    ],
    [
      ['plan', '-f', '-', '--catalog', 'a', '--region', 'westus2'],
      "nodewright: option '--catalog <file>' cannot be used with option '--region <region>'; see `nodewright plan --help` [InvalidUsage]\n",
    ],
    [
      ['explain', 'pod', 'a', '--snapshot', 'a', '--kubeconfig', 'b'],
      "nodewright: option '--snapshot <file>' cannot be used with option '--kubeconfig <file>'; see `nodewright explain pod --help` [InvalidUsage]\n",
    ],
    [
      ['explain', 'pod', 'a', '--yes'],
      'nodewright: --yes does nothing without --apply; see `nodewright explain pod --help` [InvalidUsage]\n',
    ],
    [
      ['cost', '--window', '2h'],
      'nodewright: --window does nothing without --output opencost; see `nodewright cost --help` [InvalidUsage]\n',
    ],
    [
      ['cost', '--by', 'pool', '-o', 'json'],
      'nodewright: --by does nothing without --output table; see `nodewright cost --help` [InvalidUsage]\n',
    ],
    [
      ['doctor', '--snapshot', 'a', '--account', 'self'],
      "nodewright: option '--account <account>' cannot be used with option '--snapshot <file>'; see `nodewright doctor --help` [InvalidUsage]\n",
    ],
    [
      ['top', '--once', '--interval', '2s'],
      "nodewright: option '--once' cannot be used with option '--interval <duration>'; see `nodewright top --help` [InvalidUsage]\n",
    ],
    [
      ['aks', 'enable', '-g', 'a', '-n', 'b', '--managed', '--image', 'c'],
      "nodewright: option '--image <image>' cannot be used with option '--managed'; see `nodewright aks enable --help` [InvalidUsage]\n",
    ],
    [
      ['migrate', 'agent-pools', '-g', 'a', '-n', 'b', '--all', '--waves', '2'],
      "nodewright: option '--all' cannot be used with option '--waves <number>'; see `nodewright migrate agent-pools --help` [InvalidUsage]\n",
    ],
  ])('refuses %j in one line', async (args, stderr) => {
    expect(await nodewright(args)).toEqual({ code: 2, stdout: '', stderr });
  });

  it('refuses a catalogue with mistakes', async () => {
    const file = join(folder, 'wrong.json');
    await writeFile(file, JSON.stringify([{ name: 'a', labels: {}, allocatable: { cpu: 'x' }, offerings: [] }]));
    const { code, stderr } = await nodewright(['plan', '-f', '-', '--catalog', file]);
    expect([code, stderr]).toEqual([
      2,
      `nodewright: ${file}: this is not a usable catalogue: [0].allocatable.cpu: is not a quantity such as 1900m or 7Gi; correct the catalogue and run again [FileInvalid]\n`,
    ]);
  });
});
