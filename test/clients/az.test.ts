/**
 * The life of a cluster with the real Azure CLI and kubectl on the Azure of `nodewright up`, as a new user would
 * proceed.
 */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Labels } from '../../src/api/labels.ts';
import { Kinds, type ConfigMap, type Node } from '../../src/api/kinds.ts';
import { SystemClock } from '../../src/clock/systemClock.ts';
import { systemRandom } from '../../src/clock/systemRandom.ts';
import { HttpKube } from '../../src/kube/httpKube.ts';
import type { Kube } from '../../src/kube/kube.ts';
import { loadKubeconfig } from '../../src/kube/kubeconfig.ts';
import { eventually } from '../controlplane/eventually.ts';
import { API_VERSION, RealClients, type Outcome } from '../fixtures/local/realClients.ts';
import { PATIENCE, UpProcess } from '../fixtures/local/upProcess.ts';

const FIXTURES = 'test/fixtures/local';
const OLD_IMAGE = '202610.15.0';
const NEW_IMAGE = '202611.09.0';
const DAY = 86_400_000;
const MANUAL = 'cannot be changed from Auto to Manual unless there are no existing NAP nodes';
const WORK = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'work', namespace: 'default' },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'work' } },
    template: {
      metadata: { labels: { app: 'work' } },
      spec: { containers: [{ name: 'main', image: 'nginx', resources: { requests: { cpu: '3' } } }] },
    },
  },
};

describe('a cluster by the Azure CLI', () => {
  const up = new UpProcess('--speed', '3');
  const clients = new RealClients(up);
  const kubes: HttpKube[] = [];
  let kube: Kube;

  beforeAll(() => up.start(), PATIENCE);
  afterAll(async () => {
    for (const each of kubes) await each.close();
    await up.remove();
  });

  const first = ['--resource-group', 'mine', '--name', 'first'];
  const place = [...first, '--state-dir', up.folder];
  const read = (name: string): string => readFileSync(join(up.folder, name), 'utf8');
  const config = (name: string): string => join(up.folder, `${name}.kubeconfig`);
  const connect = async (name: string): Promise<Kube> => {
    await clients.ask('aks', 'get-credentials', '--resource-group', 'mine', '--name', name, '--file', config(name));
    const kubeconfig = await loadKubeconfig({ path: config(name) });
    const connected = new HttpKube({ config: kubeconfig, clock: new SystemClock(), random: systemRandom });
    kubes.push(connected);
    return connected;
  };
  const kubectl = (args: readonly string[], input?: string, name = 'first'): Promise<Outcome> =>
    clients.kubectl(config(name), args, input);
  const setMode = (mode: string): Promise<Outcome> =>
    clients.rest('patch', clients.cluster('first'), { properties: { nodeProvisioningProfile: { mode } } });
  /** `az rest` does not wait for the operation it starts. */
  const isIdle = (): Promise<unknown> => clients.ask('aks', 'wait', ...first, '--updated', '--interval', '1');
  const setWindow = (maintenanceWindow: object): Promise<Outcome> =>
    clients.rest('put', `${clients.cluster('first')}/maintenanceConfigurations/aksManagedNodeOSUpgradeSchedule`, {
      properties: { maintenanceWindow },
    });
  const poolNames = async (cluster = kube): Promise<string> => {
    const { items } = await cluster.list(Kinds.NodePool);
    return items
      .map(({ metadata }) => metadata.name)
      .toSorted()
      .join();
  };
  const bought = async (): Promise<readonly Node[]> =>
    (await kube.list(Kinds.Node, { labelSelector: 'karpenter.sh/nodepool' })).items;
  const isWorking = async (): Promise<boolean> => {
    const { items } = await kube.list(Kinds.Pod, { namespace: 'default', labelSelector: 'app=work' });
    const running = items.filter(
      ({ status, metadata }) => status?.phase === 'Running' && metadata.deletionTimestamp === undefined,
    );
    return running.length === 2;
  };
  const isPublished = (start: string) => async (): Promise<true | undefined> => {
    const ref = { namespace: 'kube-system', name: 'upcoming-maintenance-window' };
    const { data } = await kube.get(Kinds.ConfigMap, ref).catch(() => ({ data: {} }) as ConfigMap);
    return data?.['aksManagedNodeOSUpgradeSchedule-start']?.includes(start) === true ? true : undefined;
  };
  /** All nodes that were bought are so, and the work runs on them. */
  const nodesAre = (what: string, holds: (node: Node) => boolean): Promise<unknown> =>
    eventually(
      what,
      async () => {
        const nodes = await bought();
        return nodes.length > 0 && nodes.every(holds) && (await isWorking()) ? true : undefined;
      },
      PATIENCE,
    );
  const images = async (): Promise<readonly string[]> => {
    const { items } = await kube.list(Kinds.NodeClaim);
    return [...new Set(items.map(({ status }) => status?.imageID?.split('/').at(-1) ?? ''))];
  };
  const imagesAre = (version: string): Promise<unknown> =>
    eventually(
      `nodes have the image ${version}`,
      async () => ((await images()).join() === version && (await isWorking()) ? true : undefined),
      PATIENCE,
    );
  /**
   * A running controller caches the list of images; a restarted one reads it, and its first passes are over once it
   * handles a new class.
   */
  const lookForImages = async (name: string): Promise<unknown> => {
    const died = await clients.nodewright('fault', 'process-death', '--state-dir', up.folder);
    expect(died).toMatchObject({ code: 0 });
    await kube.create(Kinds.AKSNodeClass, {
      metadata: { name },
      spec: { imageFamily: 'AzureLinux', osDiskSizeGB: 128 },
    });
    return eventually(
      'a new class has the new image',
      async () => {
        const { status } = await kube.get(Kinds.AKSNodeClass, { name });
        return status?.images?.some(({ id }) => id.endsWith(`/${NEW_IMAGE}`)) === true ? true : undefined;
      },
      PATIENCE,
    );
  };

  it('begins with a sign-in by what azure.env has, and not without the secret', async () => {
    expect(statSync(join(up.folder, 'azure.env')).mode & 0o777).toBe(0o600);
    const [wrong, right] = await Promise.all([
      clients.shell('AZURE_CLIENT_SECRET=wrong && azure_sign_in', 'wrong-az'),
      clients.shell('azure_sign_in'),
    ]);
    expect(wrong.code).not.toBe(0);
    expect(wrong.stderr).toContain('AADSTS7000215');
    expect(right).toMatchObject({ code: 0 });
    // As after a restart of the world: the Azure CLI knows the cloud already.
    expect(await clients.shell('azure_sign_in')).toMatchObject({ code: 0 });
    const [account, versions] = await Promise.all([
      clients.ask('account', 'show'),
      clients.ask('aks', 'get-versions', '--location', 'eastus'),
      clients.ask('group', 'create', '--name', 'mine', '--location', 'eastus'),
    ]);
    expect(account).toMatchObject({ id: up.azure('AZURE_SUBSCRIPTION_ID'), environmentName: 'nodewright' });
    expect(JSON.stringify(versions)).toContain('1.35.3');
  });

  it('is created with nodes of its own, in the mode Manual', async () => {
    const wanted = ['--kubernetes-version', '1.35.3', '--network-plugin', 'azure'];
    const pool = ['--node-count', '1', '--node-vm-size', 'Standard_D4s_v5', '--no-ssh-key'];
    expect(await clients.ask('aks', 'create', ...first, ...wanted, ...pool)).toMatchObject({
      provisioningState: 'Succeeded',
      kubernetesVersion: '1.35.3',
      nodeResourceGroup: 'MC_mine_first_eastus',
    });
    const [pools, connected] = await Promise.all([
      clients.ask('aks', 'nodepool', 'list', '--resource-group', 'mine', '--cluster-name', 'first'),
      connect('first'),
    ]);
    kube = connected;
    expect(pools).toMatchObject([{ name: 'nodepool1', count: 1, mode: 'System' }]);
    await eventually(
      'its system pods run',
      async () => {
        const { items } = await kube.list(Kinds.Pod, { namespace: 'kube-system' });
        return items.length >= 10 && items.every(({ status }) => status?.phase === 'Running') ? true : undefined;
      },
      PATIENCE,
    );
    expect((await kubectl(['get', 'daemonsets', '-n', 'kube-system', '-o', 'name'])).stdout).toContain('kube-proxy');
    expect((await kubectl(['get', 'nodepools'])).stderr).toContain('doesn\'t have a resource type "nodepools"');
  });

  it('is checked and enabled by nodewright, and buys nodes for what is deployed', async () => {
    const check = await clients.nodewright('aks', 'check', ...place, '--managed', '-o', 'json');
    expect(check.code).toBe(0);
    const results = JSON.parse(check.stdout) as readonly { readonly state: string }[];
    expect(results.filter(({ state }) => state === 'error')).toEqual([]);
    const enabled = await clients.nodewright('aks', 'enable', ...place, '--managed', '-o', 'json');
    expect(enabled.code).toBe(0);
    expect(JSON.parse(enabled.stdout)).toMatchObject([{ step: 'node-auto-provisioning', state: 'made' }, {}]);
    await eventually(
      'the default pools are there',
      async () => ((await poolNames().catch(() => '')) === 'default,system-surge' ? true : undefined),
      PATIENCE,
    );
    expect(await kubectl(['apply', '-f', '-'], JSON.stringify(WORK))).toMatchObject({ code: 0 });
    await nodesAre('the work runs on nodes that were bought', () => true);
    // The same identity as for nodes of self-hosted controllers, so that they do not drift when AKS takes over.
    const identity = await clients.ask('aks', 'show', ...first, '--query', 'identityProfile.kubeletidentity.clientId');
    const { items: bought } = await kube.list(Kinds.Node, { labelSelector: Labels.nodePool });
    expect(bought.map(({ metadata }) => metadata.labels?.[Labels.aksKubeletIdentityClientId])).toEqual(
      bought.map(() => identity),
    );
    const refused = await setMode('Manual');
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain(MANUAL);
    const [, metrics = ''] = /^Metrics: +(\S+)$/m.exec(up.output) ?? [];
    const scraped = await (await fetch(`${metrics}/mine/first`)).text();
    expect(scraped).toContain('karpenter_nodeclaims_created_total{');
    expect(read('karpenter-events.jsonl')).toContain('"category":"karpenter-events"');
    const said = [read('karpenter-events.jsonl'), read('nodewright.log'), up.output].join('\n');
    const { items } = await kube.list(Kinds.Secret, { labelSelector: 'nodewright.dev/bootstrap-token' });
    const secrets = items.map(({ data }) => data?.['token-secret'] ?? '');
    expect(secrets.length).toBeGreaterThan(0);
    for (const encoded of secrets) {
      expect(said).not.toContain(encoded);
      expect(said).not.toContain(Buffer.from(encoded, 'base64').toString('utf8'));
    }
    const status = await clients.nodewright('aks', 'status', ...place, '-o', 'json');
    expect(JSON.parse(status.stdout)).toMatchObject({ cluster: 'first', mode: 'managed', isReady: true });
  });

  it('goes up one minor version of Kubernetes, and its nodes follow', async () => {
    expect(JSON.stringify(await clients.ask('aks', 'get-upgrades', ...first))).toContain('1.36.3');
    await clients.ask('aks', 'upgrade', ...first, '--kubernetes-version', '1.36.3', '--yes');
    expect(await kube.raw('/version')).toMatchObject({ major: '1', minor: '36' });
    await nodesAre('nodes have the new version', ({ status }) => status?.nodeInfo?.kubeletVersion === 'v1.36.3');
    const tagged = await clients.ask('aks', 'update', ...first, '--tags', 'team=a');
    expect(tagged).toMatchObject({ tags: { team: 'a' }, provisioningState: 'Succeeded' });
  });

  it('takes a node image within its maintenance window only', async () => {
    await imagesAre(OLD_IMAGE);
    const inThreeDays = new Date(Date.now() + 3 * DAY).toLocaleString('en', {
      weekday: 'long',
      timeZone: 'UTC',
    });
    const closed = {
      schedule: { weekly: { intervalWeeks: 1, dayOfWeek: inThreeDays } },
      durationHours: 6,
      startTime: '02:00',
      utcOffset: '+01:00',
    };
    const [put, short] = await Promise.all([setWindow(closed), setWindow({ ...closed, durationHours: 3 })]);
    expect(put).toMatchObject({ code: 0 });
    expect(short.stderr).toContain('durationHours is invalid. It must be between 4 and 24');
    await eventually('the window is published', isPublished('T01:00:00'), PATIENCE);
    const before = new Set((await bought()).map(({ metadata }) => metadata.uid));
    const released = `/subscriptions/${up.azure('AZURE_SUBSCRIPTION_ID')}/providers/Microsoft.ContainerService/locations/eastus/nodeImageVersions`;
    expect(await clients.rest('put', `${released}/${NEW_IMAGE}`, {})).toMatchObject({ code: 0 });
    const listed = await clients.ask('rest', '--url', `${released}?${API_VERSION}`, '--query', 'value[].version');
    expect(listed).toContain(NEW_IMAGE);
    await lookForImages('outside');
    const after = await bought();
    expect(new Set(after.map(({ metadata }) => metadata.uid))).toEqual(before);
    expect(await images()).toEqual([OLD_IMAGE]);
    const open = { schedule: { daily: { intervalDays: 1 } }, durationHours: 24, startTime: '00:00' };
    expect(await setWindow(open)).toMatchObject({ code: 0 });
    await eventually('the open window is published', isPublished('T00:00:00'), PATIENCE);
    await lookForImages('inside');
    await imagesAre(NEW_IMAGE);
  });

  it('is drained by the deletion of a NodePool, and disabled', async () => {
    expect(await kubectl(['delete', 'nodepool', 'default', '--timeout', '120s'])).toMatchObject({ code: 0 });
    await eventually('its nodes are gone', async () => ((await bought()).length === 0 ? true : undefined), PATIENCE);
    const plan = await clients.nodewright('aks', 'disable', ...place, '--dry-run');
    expect(plan.stdout).toContain('planned  set limits.cpu of every NodePool to 0');
    const disabled = await clients.nodewright('aks', 'disable', ...place, '--drain', '-o', 'json');
    expect(disabled).toMatchObject({ code: 0 });
    const records = JSON.parse(disabled.stdout) as readonly { readonly step: string; readonly state: string }[];
    expect(records.map(({ step, state }) => `${state} ${step}`)).toEqual(
      expect.arrayContaining(['made limits', 'made taint', 'made manual', 'done nodewright', 'done identity']),
    );
    expect(await poolNames()).toBe('system-surge');
  });

  it('is enabled and disabled again by the switch alone', async () => {
    expect(await setMode('Auto')).toMatchObject({ code: 0 });
    await eventually(
      'the default pools are there again',
      async () => ((await poolNames()) === 'default,system-surge' ? true : undefined),
      PATIENCE,
    );
    await nodesAre('the work runs again', () => true);
    expect(await kubectl(['scale', 'deployment', 'work', '--replicas', '0'])).toMatchObject({ code: 0 });
    const limits = JSON.stringify({ spec: { limits: { cpu: '0' } } });
    expect(await kubectl(['patch', 'nodepools', 'default', '--type', 'merge', '-p', limits])).toMatchObject({
      code: 0,
    });
    await eventually('no node is left', async () => ((await bought()).length === 0 ? true : undefined), PATIENCE);
    expect(await setMode('Manual')).toMatchObject({ code: 0 });
    await isIdle();
    const profile = await clients.ask('rest', '--url', `${clients.cluster('first')}?${API_VERSION}`);
    expect(profile).toMatchObject({ properties: { nodeProvisioningProfile: { mode: 'Manual' } } });
  });

  it('runs through nodewright az with a folder of its own', async () => {
    const words = ['aks', 'list', '--query', '[].name', '-o', 'tsv'];
    const absent = ['aks', 'show', '--resource-group', 'mine', '--name', 'absent'];
    const outcome = await clients.nodewright('az', '--state-dir', up.folder, ...words);
    expect(outcome).toMatchObject({ code: 0 });
    expect(await clients.nodewright('az', '--state-dir', up.folder, ...absent)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('ResourceNotFound') as string,
    });
    expect(outcome.stdout.trim().split('\n').toSorted()).toEqual(['first', 'local']);
    expect(read('azure-cli/signed-in')).toContain(up.azure('AZURE_RESOURCE_MANAGER_ENDPOINT'));
  });

  it('goes the same way by template, after a preview', async () => {
    const documents = ['--resource-group', 'mine', '--template-file', `${FIXTURES}/napClusterTemplate.json`];
    const template = ['--resource-group', 'mine', '--template-file', `${FIXTURES}/napStoryTemplate.json`];
    const deploy = (mode: string, version: string): Promise<Outcome> => {
      const values = [`name=second`, `mode=${mode}`, `kubernetesVersion=${version}`];
      return clients.az('deployment', 'group', 'create', ...template, '--parameters', ...values, '-o', 'json');
    };
    const [preview, deployed, created] = await Promise.all([
      clients.ask('deployment', 'group', 'what-if', ...documents, '--no-pretty-print'),
      clients.ask('deployment', 'group', 'create', ...documents),
      deploy('Manual', '1.35.3'),
    ]);
    expect(JSON.stringify(preview)).toContain('"changeType":');
    expect(deployed).toMatchObject({ properties: { provisioningState: 'Succeeded' } });
    expect(created).toMatchObject({ code: 0 });
    const second = await connect('second');
    const enabled = await deploy('Auto', '1.36.3');
    expect(JSON.parse(enabled.stdout)).toMatchObject({ properties: { outputs: { mode: { value: 'Auto' } } } });
    await eventually(
      'the default pools are there, and the window',
      async () => {
        const window = { namespace: 'kube-system', name: 'upcoming-maintenance-window' };
        const isPublished = await second.get(Kinds.ConfigMap, window).catch(() => undefined);
        const pools = await poolNames(second).catch(() => '');
        return pools === 'default,system-surge' && isPublished !== undefined ? true : undefined;
      },
      PATIENCE,
    );
    expect(await second.raw('/version')).toMatchObject({ minor: '36' });
    const refused = await deploy('Manual', '1.36.3');
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain('cannot be changed from Auto to Manual');
    const limits = JSON.stringify({ spec: { limits: { cpu: '0' } } });
    const close = ['patch', 'nodepools', 'default', 'system-surge', '--type', 'merge', '-p', limits];
    expect(await kubectl(close, undefined, 'second')).toMatchObject({ code: 0 });
    expect(JSON.parse((await deploy('Manual', '1.36.3')).stdout)).toMatchObject({
      properties: { outputs: { mode: { value: 'Manual' } } },
    });
  });
});
