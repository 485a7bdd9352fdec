/** The real Azure CLI against the Azure of `nodewright up`, as a new user would go about it. */
import { spawn } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Kinds } from '../../src/api/kinds.ts';
import { SystemClock } from '../../src/clock/systemClock.ts';
import { systemRandom } from '../../src/clock/systemRandom.ts';
import { HttpKube } from '../../src/kube/httpKube.ts';
import { loadKubeconfig } from '../../src/kube/kubeconfig.ts';
import { eventually } from '../controlplane/eventually.ts';
import { PATIENCE, UpProcess } from '../fixtures/local/upProcess.ts';

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const TEMPLATE = 'test/fixtures/local/napClusterTemplate.json';
const PROFILE = 'properties.nodeProvisioningProfile';

describe('the Azure CLI', () => {
  const up = new UpProcess();
  let kube: HttpKube;

  beforeAll(() => up.start(), PATIENCE);
  afterAll(async () => {
    await kube?.close();
    await up.remove();
  });

  const run = (command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    new Promise<Outcome>((resolve, reject) => {
      const child = spawn(command, [...args], {
        env: { PATH: process.env['PATH'], HOME: up.folder, AZURE_CONFIG_DIR: join(up.folder, 'own-az'), ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let [stdout, stderr] = ['', ''];
      child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
      child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
      child.once('error', reject);
      child.once('close', (code) => resolve({ code, stdout, stderr }));
    });
  /** As after `source azure.env` in a shell. */
  const shell = (script: string): Promise<Outcome> =>
    run('bash', ['-c', `source "$1" && ${script}`, 'bash', join(up.folder, 'azure.env')]);
  const az = async (...args: readonly string[]): Promise<Outcome> =>
    shell(`az ${args.map((word) => `'${word}'`).join(' ')}`);
  const ask = async (...args: readonly string[]): Promise<unknown> => {
    const { code, stdout, stderr } = await az(...args, '--output', 'json', '--only-show-errors');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return stdout.trim() === '' ? undefined : (JSON.parse(stdout) as unknown);
  };
  const cluster = (): string =>
    `/subscriptions/${up.azure('AZURE_SUBSCRIPTION_ID')}/resourceGroups/mine/providers/Microsoft.ContainerService/managedClusters/first`;
  const patch = (profile: object): Promise<Outcome> =>
    az(
      'rest',
      '--method',
      'patch',
      '--url',
      `${cluster()}?api-version=2025-05-01`,
      '--body',
      JSON.stringify({ properties: { nodeProvisioningProfile: profile } }),
      '--query',
      PROFILE,
    );
  const named = (items: readonly { readonly metadata: { readonly name: string } }[]): readonly string[] =>
    items.map(({ metadata }) => metadata.name).toSorted();

  it('signs in with what azure.env has, and not without the secret', async () => {
    expect(statSync(join(up.folder, 'azure.env')).mode & 0o777).toBe(0o600);
    expect(await shell('azure_sign_in')).toMatchObject({ code: 0 });
    expect(await ask('account', 'show')).toMatchObject({
      id: up.azure('AZURE_SUBSCRIPTION_ID'),
      environmentName: 'nodewright',
    });
    const wrong = await shell('az login --service-principal -u "$AZURE_CLIENT_ID" -p wrong -t "$AZURE_TENANT_ID"');
    expect(wrong.code).not.toBe(0);
    expect(wrong.stderr).toContain('AADSTS7000215');
    expect(
      await shell(
        'az login --service-principal -u "$AZURE_CLIENT_ID" -p "$AZURE_CLIENT_SECRET" -t "$AZURE_TENANT_ID" -o none',
      ),
    ).toMatchObject({ code: 0 });
  });

  it('lists versions and creates a cluster with nodes of its own', async () => {
    expect(JSON.stringify(await ask('aks', 'get-versions', '--location', 'eastus'))).toContain('1.35.3');
    await ask('group', 'create', '--name', 'mine', '--location', 'eastus');
    const created = await ask(
      'aks',
      'create',
      '--resource-group',
      'mine',
      '--name',
      'first',
      '--kubernetes-version',
      '1.35.3',
      '--network-plugin',
      'azure',
      '--node-count',
      '1',
      '--node-vm-size',
      'Standard_D4s_v5',
      '--no-ssh-key',
    );
    expect(created).toMatchObject({ provisioningState: 'Succeeded', kubernetesVersion: '1.35.3' });
    expect(await ask('aks', 'show', '--resource-group', 'mine', '--name', 'first')).toMatchObject({
      nodeResourceGroup: 'MC_mine_first_eastus',
    });
    expect(await ask('aks', 'nodepool', 'list', '--resource-group', 'mine', '--cluster-name', 'first')).toMatchObject([
      { name: 'nodepool1', count: 1, mode: 'System' },
    ]);
    const file = join(up.folder, 'first.kubeconfig');
    await ask('aks', 'get-credentials', '--resource-group', 'mine', '--name', 'first', '--file', file);
    kube = new HttpKube({
      config: await loadKubeconfig({ path: file }),
      clock: new SystemClock(),
      random: systemRandom,
    });
    await eventually(
      'its system pods run',
      async () => {
        const { items } = await kube.list(Kinds.Pod, { namespace: 'kube-system' });
        return items.length >= 10 && items.every(({ status }) => status?.phase === 'Running') ? true : undefined;
      },
      PATIENCE,
    );
    const names = (await kube.list(Kinds.DaemonSet, { namespace: 'kube-system' })).items;
    expect(named(names)).toContain('kube-proxy');
    expect(await kube.raw('/version')).toMatchObject({ major: '1', minor: '35' });
  });

  it('turns node auto-provisioning on, which then buys nodes, and off only when none is left', async () => {
    expect(await patch({ mode: 'Auto' })).toMatchObject({ code: 0 });
    await eventually(
      'the default pools are there',
      async () => {
        const { items } = await kube.list(Kinds.NodePool);
        return named(items).join() === 'default,system-surge' ? true : undefined;
      },
      PATIENCE,
    );
    const labels = { app: 'work' };
    await kube.create(Kinds.Deployment, {
      metadata: { name: 'work', namespace: 'default' },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { containers: [{ name: 'main', image: 'nginx', resources: { requests: { cpu: '3' } } }] },
        },
      },
    });
    await eventually(
      'all pods run on nodes that nodewright bought',
      async () => {
        const { items } = await kube.list(Kinds.Pod, { namespace: 'default' });
        return items.length === 2 && items.every(({ status }) => status?.phase === 'Running') ? true : undefined;
      },
      PATIENCE,
    );
    const refused = await patch({ mode: 'Manual' });
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain('cannot be changed from Auto to Manual unless there are no existing NAP nodes');
    await kube.delete(Kinds.Deployment, { name: 'work', namespace: 'default' });
    for (const { metadata } of (await kube.list(Kinds.NodePool)).items) {
      await kube.patch(
        Kinds.NodePool,
        { name: metadata.name },
        { type: 'merge', body: { spec: { limits: { cpu: '0' } } } },
      );
    }
    for (const { metadata } of (await kube.list(Kinds.NodeClaim)).items)
      await kube.delete(Kinds.NodeClaim, { name: metadata.name });
    await eventually(
      'no node of it is left',
      async () => {
        const { items } = await kube.list(Kinds.Node);
        return items.some(({ metadata }) => metadata.labels?.['karpenter.sh/nodepool']) ? undefined : true;
      },
      PATIENCE,
    );
    const manual = await patch({ mode: 'Manual' });
    expect(manual).toMatchObject({ code: 0 });
    expect(JSON.parse(manual.stdout)).toMatchObject({ mode: 'Manual' });
    expect(named((await kube.list(Kinds.NodePool)).items)).toEqual(['default', 'system-surge']);
  });

  it('upgrades Kubernetes by one minor version', async () => {
    // `az rest` does not wait for what it began.
    const state = ['aks', 'show', '--resource-group', 'mine', '--name', 'first', '--query', 'provisioningState'];
    const isIdle = async (): Promise<true | undefined> => ((await ask(...state)) === 'Succeeded' ? true : undefined);
    await eventually('the last change is over', isIdle, PATIENCE);
    const upgrades = await ask('aks', 'get-upgrades', '--resource-group', 'mine', '--name', 'first');
    expect(JSON.stringify(upgrades)).toContain('1.36.3');
    await ask(
      'aks',
      'upgrade',
      '--resource-group',
      'mine',
      '--name',
      'first',
      '--kubernetes-version',
      '1.36.3',
      '--yes',
    );
    expect(
      await ask('aks', 'show', '--resource-group', 'mine', '--name', 'first', '--query', 'currentKubernetesVersion'),
    ).toBe('1.36.3');
    expect(await kube.raw('/version')).toMatchObject({ minor: '36' });
    const tagged = await ask('aks', 'update', '--resource-group', 'mine', '--name', 'first', '--tags', 'team=a');
    expect(tagged).toMatchObject({ tags: { team: 'a' }, provisioningState: 'Succeeded' });
  });

  it('keeps maintenance configurations', async () => {
    const url = (name: string): string => `${cluster()}/maintenanceConfigurations/${name}?api-version=2025-05-01`;
    const window = {
      schedule: { weekly: { intervalWeeks: 1, dayOfWeek: 'Saturday' } },
      durationHours: 6,
      startTime: '02:00',
      utcOffset: '+01:00',
    };
    const put = (maintenanceWindow: object): Promise<Outcome> =>
      az(
        'rest',
        '--method',
        'put',
        '--url',
        url('aksManagedNodeOSUpgradeSchedule'),
        '--body',
        JSON.stringify({ properties: { maintenanceWindow } }),
      );
    expect(await put(window)).toMatchObject({ code: 0 });
    const refused = await put({ ...window, durationHours: 3 });
    expect(refused.stderr).toContain('durationHours is invalid. It must be between 4 and 24');
    expect(await ask('rest', '--method', 'get', '--url', url('aksManagedNodeOSUpgradeSchedule'))).toMatchObject({
      properties: { maintenanceWindow: window },
    });
  });

  it('deploys the template of the documents, after a preview', async () => {
    const place = ['--resource-group', 'mine', '--name', 'nap', '--template-file', TEMPLATE];
    const preview = await ask('deployment', 'group', 'what-if', ...place, '--no-pretty-print');
    expect(JSON.stringify(preview)).toContain('"changeType": "Create"'.replace(': ', ':'));
    const deployed = await ask('deployment', 'group', 'create', ...place);
    expect(deployed).toMatchObject({ properties: { provisioningState: 'Succeeded' } });
    const resources = (await ask('resource', 'list', '--resource-group', 'mine')) as readonly {
      readonly name: string;
    }[];
    expect(resources.map(({ name }) => name).toSorted()).toEqual(['first', 'napcluster']);
    const profile = await ask(
      'rest',
      '--method',
      'get',
      '--url',
      `${cluster().replace(/first$/, 'napcluster')}?api-version=2023-09-02-preview`,
      '--query',
      PROFILE,
    );
    expect(profile).toEqual({ mode: 'Auto', defaultNodePools: 'Auto' });
  });

  it('runs through nodewright az with a folder of its own', async () => {
    const outcome = await run(process.execPath, [
      '--import',
      'tsx',
      'src/cli/nodewright.ts',
      'az',
      '--state-dir',
      up.folder,
      'aks',
      'list',
      '--query',
      '[].name',
      '-o',
      'tsv',
    ]);
    expect(outcome).toMatchObject({ code: 0 });
    expect(outcome.stdout.trim().split('\n').toSorted()).toEqual(['first', 'local', 'napcluster']);
    expect(readFileSync(join(up.folder, 'azure-cli', 'signed-in'), 'utf8')).toContain(
      up.azure('AZURE_RESOURCE_MANAGER_ENDPOINT'),
    );
  });
});
