/** `explain`, `plan`, `snapshot` and `replay` against a cluster over HTTP, and against a file of it. */
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Kinds } from '../../src/api/kinds.ts';
import { parseYaml } from '../../src/api/yaml/parseYaml.ts';
import type { ChangeReport } from '../../src/ledger/changeReport.ts';
import type { Explanation } from '../../src/ledger/explanation.ts';
import type { Decisions } from '../../src/rehearsal/decisionsOf.ts';
import { VirtualAks } from '../fixtures/engine/virtualAks.ts';
import { nodewrightElsewhere } from './commandProcess.ts';
import { nodewright } from './commandRun.ts';

/** Milliseconds: processes start slowly on a busy machine. */
const PATIENCE = 1_200_000;
const MINUTE = 60_000;

describe('the commands that look at a cluster', { timeout: PATIENCE }, () => {
  let aks: VirtualAks;
  let folder = '';
  const file = (name: string): string => join(folder, name);
  const live = (...args: readonly string[]) => nodewright(...args, '--kubeconfig', file('kubeconfig'));

  async function deploy(name: string, spec: object, replicas = 1): Promise<void> {
    const labels = { app: name };
    const containers = [{ name: 'main', image: 'app', resources: { requests: { cpu: '500m', memory: '256Mi' } } }];
    await aks.kube.create(Kinds.Deployment, {
      metadata: { name, namespace: 'default' },
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers, ...spec } },
      },
    });
  }

  const podsOf = async (app: string) =>
    (await aks.kube.list(Kinds.Pod, { namespace: 'default' })).items.filter(
      ({ metadata }) => metadata.labels?.['app'] === app,
    );
  const stuckPod = async (): Promise<string> => (await podsOf('stuck'))[0]?.metadata.name ?? '';

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'nodewright-why-'));
    aks = await VirtualAks.start({ seed: 'why', profile: 'calm' });
    await deploy('web', {}, 3);
    await deploy('stuck', { nodeSelector: { 'example.com/team': 'red' } });
    await aks.advance(6 * MINUTE);
    await aks.world.listen(0);
    await aks.world.writeKubeconfig(file('kubeconfig'));
    const pool = await aks.kube.get(Kinds.NodePool, { name: 'default' });
    const manifest = { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', metadata: { name: 'default' } };
    await writeFile(file('same.json'), JSON.stringify({ ...manifest, spec: pool.spec }));
    const labelled = { ...pool.spec.template, metadata: { ...pool.spec.template.metadata, labels: { tier: 'new' } } };
    await writeFile(file('label.json'), JSON.stringify({ ...manifest, spec: { ...pool.spec, template: labelled } }));
    await writeFile(
      file('more.yaml'),
      `apiVersion: apps/v1
kind: Deployment
metadata: { name: more, namespace: default }
spec:
  replicas: 6
  template:
    metadata: { labels: { app: more } }
    spec:
      containers:
        - { name: main, resources: { requests: { cpu: "3" } } }
`,
    );
    await live('snapshot', 'save', file('cluster.json'));
  }, PATIENCE);

  afterAll(async () => {
    await aks.stop();
    await rm(folder, { recursive: true, force: true });
  }, PATIENCE);

  it('save a file that only its owner reads, and that replays to the same bytes elsewhere', async () => {
    expect((await stat(file('cluster.json'))).mode & 0o777).toBe(0o600);
    const here = await nodewright('replay', file('cluster.json'), '-o', 'json');
    const elsewhere = await nodewrightElsewhere(folder, ['replay', 'cluster.json', '-o', 'json']);
    expect(here.code).toBe(0);
    expect(elsewhere).toEqual(here);
    const decisions = JSON.parse(here.stdout) as Decisions;
    expect(decisions.refusals.map(({ pod }) => pod)).toEqual([`default/${await stuckPod()}`]);
    expect(decisions.nodes.length).toBeGreaterThan(0);
  });

  it('replay at another time, and with other manifests', async () => {
    const { time } = JSON.parse(await readFile(file('cluster.json'), 'utf8')) as { time: string };
    const later = new Date(Date.parse(time) + 90 * 24 * 60 * MINUTE).toISOString();
    const after = await nodewright('replay', file('cluster.json'), '--at', later, '-o', 'json');
    expect(after.code).toBe(0);
    expect(Date.parse((JSON.parse(after.stdout) as Decisions).time)).toBe(Math.floor(Date.parse(later) / 1000) * 1000);
    const wider = await nodewright('replay', file('cluster.json'), '--with', file('more.yaml'), '-o', 'json');
    const planned = (JSON.parse(wider.stdout) as Decisions).launches.flatMap(({ pods }) => pods);
    expect(planned.filter((pod) => pod.startsWith('default/more-'))).toHaveLength(6);
    expect((await nodewright('replay', file('cluster.json'), '--at', 'noon')).code).toBe(2);
    expect((await nodewright('replay', file('more.yaml'))).code).toBe(2);
  });

  it('save to a pipe that is read slowly, and name a file that cannot be written', async () => {
    const saved = await nodewrightElsewhere(folder, ['snapshot', 'save', '--kubeconfig', 'kubeconfig'], {
      through: '(sleep 1; cat)',
    });
    expect(saved.stderr).toBe('');
    expect(JSON.parse(saved.stdout)).toMatchObject({ format: 'nodewright-snapshot' });
    expect(await live('snapshot', 'save', file('none/cluster.json'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        `${file('none/cluster.json')}: cannot write this snapshot: there is no such folder; give a path that this process may write, on a disk with room [FileUnwritable]`,
      ) as string,
    });
  });

  it('refuse manifests with mistakes instead of replaying without them', async () => {
    await writeFile(file('half.yaml'), `${await readFile(file('more.yaml'), 'utf8')}---\nkind: [Pod\n`);
    expect(await nodewright('replay', file('cluster.json'), '--with', file('half.yaml'))).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(
        /half\.yaml: this is not a usable manifest: line 1\d: .* \[FileInvalid\]\n$/,
      ) as string,
    });
  });

  it('explain the same from the cluster and from the file, in every format, by the documented fields', async () => {
    const name = await stuckPod();
    const json = await live('explain', 'pod', name, '-n', 'default', '-o', 'json');
    const explanation = JSON.parse(json.stdout) as Explanation;
    expect(json.code).toBe(0);
    expect(explanation).toMatchObject({
      object: { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name },
      constraint: 'requirements',
    });
    expect(explanation.sentence).toContain('example.com/team');
    expect(explanation.fixes[0]).toEqual({
      sentence: 'drop example.com/team=red from nodeSelector',
      patches: [
        {
          target: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name: 'stuck' },
          type: 'merge',
          patch: { spec: { template: { spec: { nodeSelector: { 'example.com/team': null } } } } },
        },
      ],
    });
    expect(parseYaml((await live('explain', 'pod', name, '-o', 'yaml')).stdout)).toEqual(explanation);
    const offline = await nodewright('explain', 'pod', name, '--snapshot', file('cluster.json'), '-o', 'json');
    expect(JSON.parse(offline.stdout)).toEqual(explanation);
    const table = await live('explain', 'pod', name);
    expect(table.stdout).toContain('kubectl patch deployment stuck -n default --type merge -p ');
  });

  it('explain nodes, claims and pools, and say by the exit code what is not there', async () => {
    const [claim] = (await aks.kube.list(Kinds.NodeClaim)).items;
    const { name = '' } = claim?.metadata ?? {};
    const ofClaim = JSON.parse((await live('explain', 'nodeclaim', name, '-o', 'json')).stdout) as Explanation;
    expect(ofClaim.node?.pricePerMonth).toBeGreaterThan(0);
    const node = claim?.status?.nodeName ?? '';
    const ofNode = JSON.parse((await live('explain', 'node', node, '-o', 'json')).stdout) as Explanation;
    expect(ofNode).toEqual({ ...ofClaim, object: ofNode.object });
    expect((await live('explain', 'nodepool', 'default')).code).toBe(0);
    expect((await live('explain', 'pod', 'nothing')).code).toBe(1);
    expect((await live('explain', 'pod')).code).toBe(2);
    expect((await live('explain', 'pod', 'nothing', '--yes')).code).toBe(2);
    expect((await nodewright('explain', 'pod', 'x', '--snapshot', file('nothing.json'))).code).toBe(2);
  });

  it('plan a change, as a report for a pull request, and fail where it costs too much', async () => {
    const same = await live('plan', '-f', file('same.json'), '--live', '--max-cost-increase', '0%', '-o', 'json');
    expect(same).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(same.stdout)).toMatchObject({ drifting: [], evictions: 0 });
    const label = await live('plan', '-f', file('label.json'), '--live', '-o', 'json');
    const { drifting } = JSON.parse(label.stdout) as ChangeReport;
    const own = (await aks.kube.list(Kinds.NodeClaim)).items.filter(
      ({ metadata }) => metadata.labels?.['karpenter.sh/nodepool'] === 'default',
    );
    expect(drifting.map(({ nodeClaim }) => nodeClaim).sort()).toEqual(own.map(({ metadata }) => metadata.name).sort());
    const dearer = await live('plan', '-f', file('more.yaml'), '--live', '--max-cost-increase', '5%');
    expect(dearer.code).toBe(1);
    expect(dearer.stdout).toContain('| before |');
    expect(dearer.stderr).toContain('5 %');
    const offline = await nodewright('plan', '-f', file('more.yaml'), '--snapshot', file('cluster.json'));
    expect(offline.code).toBe(0);
    expect((await live('plan', '-f', file('more.yaml'), '--live', '--max-cost-increase', 'much')).code).toBe(2);
  });

  it('ask before they apply a fix, and the fix lets the pod run', async () => {
    const name = await stuckPod();
    const args = ['explain', 'pod', name, '-n', 'default', '--apply', '--kubeconfig', 'kubeconfig'];
    const refused = await nodewrightElsewhere(folder, args, { stdin: 'n\n' });
    expect(refused).toMatchObject({ code: 0 });
    expect(refused.stderr).toContain('drop example.com/team=red from nodeSelector? [y/N]');
    expect(refused.stderr).not.toContain('patched');
    expect(refused.stderr).toContain('nothing was changed');
    const silent = await nodewrightElsewhere(folder, args, { stdin: '' });
    expect(silent).toMatchObject({ code: 1 });
    expect(silent.stderr).toContain('or give --yes [NotConfirmed]');
    expect(await stuckPod()).toBe(name);
    const applied = await live('explain', 'pod', name, '-n', 'default', '--apply', '--yes');
    expect(applied).toMatchObject({ code: 0 });
    expect(applied.stderr).toContain('deployment/stuck patched');
    await aks.advance(5 * MINUTE);
    expect((await podsOf('stuck')).map(({ status }) => status?.phase)).toEqual(['Running']);
    expect((await live('explain', 'pod', await stuckPod(), '--apply', '--yes')).code).toBe(1);
  });

  it('record what changes, with names as hashes where asked, and replay it', async () => {
    const recordedText = (): Promise<string> => readFile(file('recording.json'), 'utf8').catch(() => '');
    const waitFor = (what: RegExp) =>
      vi.waitFor(async () => expect(await recordedText()).toMatch(what), { timeout: PATIENCE, interval: 100 });
    const change = async (): Promise<void> => {
      await waitFor(/^./);
      await deploy('late', {});
      await aks.advance(MINUTE);
      await aks.kube.delete(Kinds.Deployment, { name: 'late', namespace: 'default' });
      await waitFor(/"kind":"deployments.apps","namespace":"[^"]*","name":"[^"]*"}\n/);
    };
    const { code: ended } = await nodewrightElsewhere(
      folder,
      ['snapshot', 'save', 'recording.json', '--for', '1h', '--hash-names', '--kubeconfig', 'kubeconfig'],
      { interrupted: change() },
    );
    expect(ended).toBe(0);
    const [start = '', ...changes] = (await readFile(file('recording.json'), 'utf8')).trimEnd().split('\n');
    expect((await stat(file('recording.json'))).mode & 0o777).toBe(0o600);
    expect(start).not.toMatch(/(stuck|web)-/);
    expect(changes.join()).not.toMatch(/\blate-/);
    const { code, stdout } = await nodewright('replay', file('recording.json'), '-o', 'json');
    expect(code).toBe(0);
    expect((JSON.parse(stdout) as { moments: readonly Decisions[] }).moments.length).toBeGreaterThan(1);
  });
});
