import { afterEach, describe, expect, it } from 'vitest';
import { kubeletDefaults } from '../../test/fixtures/azure/kubeletDefaults.ts';
import { AzureFixture } from '../../test/fixtures/azure/azureFixture.ts';
import { Kinds } from '../api/kinds.ts';
import type { AksNodeClass, AksNodeClassSpec } from '../api/kinds/aksNodeClass.ts';
import type { KubeObject, ResourceKind } from '../api/object.ts';
import { NodeClassNotReadyError } from '../cloud/errors.ts';
import { KubeError } from '../kube/errors.ts';
import { ArmError } from '../local/arm/armError.ts';

import type { AzureCloudProviderOptions } from './createAzureCloudProvider.ts';

let fixture: AzureFixture;
afterEach(() => fixture.close());

const NAMESPACE = 'kube-system';
const NEWEST = '202610.15.0';
const HOUR = 3_600_000;
const MINUTE = 60_000;

const NETWORK_POLICIES: ResourceKind<KubeObject & { readonly spec: object }> = {
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'NetworkPolicy',
  plural: 'networkpolicies',
  singular: 'networkpolicy',
  namespaced: true,
};
const CILIUM_POLICIES = {
  metadata: { name: 'ciliumclusterwidenetworkpolicies.cilium.io' },
  spec: {
    group: 'cilium.io',
    scope: 'Cluster' as const,
    names: {
      kind: 'CiliumClusterwideNetworkPolicy',
      plural: 'ciliumclusterwidenetworkpolicies',
      singular: 'ciliumclusterwidenetworkpolicy',
    },
    versions: [{ name: 'v2', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' as const } } }],
  },
};
const daemonSet = (namespace: string, name: string) => {
  const labels = { app: name };
  const spec = { containers: [{ name: 'cache', image: 'example.com/cache' }] };
  return {
    metadata: { namespace, name },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  };
};

const condition = ({ status }: AksNodeClass, type: string) => status?.conditions?.find((each) => each.type === type);
const versionsOf = ({ status }: AksNodeClass): readonly string[] => [
  ...new Set(status?.images?.map(({ id }) => id.split('/').at(-1) ?? '')),
];

/** A class that got its images when `version` was the newest. */
async function classAt(version: string): Promise<AksNodeClass> {
  const made = await fixture.makeNodeClass('default');
  const images = (made.status?.images ?? []).map((image) => ({ ...image, id: image.id.replace(NEWEST, version) }));
  const status = { ...made.status, images };
  return fixture.kube.replace(Kinds.AKSNodeClass, { ...made, status }, { subresource: 'status' });
}

const window = async (start: number | undefined, end: number | undefined): Promise<void> => {
  await fixture.kube.create(Kinds.Namespace, { metadata: { name: NAMESPACE } });
  await fixture.kube.create(Kinds.ConfigMap, {
    metadata: { namespace: NAMESPACE, name: 'upcoming-maintenance-window' },
    data: {
      ...(start === undefined ? {} : { 'aksManagedNodeOSUpgradeSchedule-start': new Date(start).toISOString() }),
      ...(end === undefined ? {} : { 'aksManagedNodeOSUpgradeSchedule-end': new Date(end).toISOString() }),
    },
  });
};

describe('a new image release', () => {
  it('reaches a class at once where there is no maintenance window', async () => {
    fixture = await AzureFixture.start();
    expect(versionsOf(await fixture.reconcile(await classAt('202606.01.0')))).toEqual([NEWEST]);
    await fixture.restart({ systemNamespace: NAMESPACE });
    await fixture.kube.delete(Kinds.AKSNodeClass, { name: 'default' });
    expect(versionsOf(await fixture.reconcile(await classAt('202606.01.0')))).toEqual([NEWEST]);
  });

  it.each([
    ['an open one', -HOUR, HOUR, NEWEST],
    ['one that is over', -2 * HOUR, -HOUR, '202606.01.0'],
    ['one that is to come', HOUR, 2 * HOUR, '202606.01.0'],
    ['an empty one', undefined, undefined, NEWEST],
  ])('waits for the maintenance window: %s', async (_name, start, end, expected) => {
    fixture = await AzureFixture.start({ systemNamespace: NAMESPACE });
    const now = fixture.clock.now();
    await window(start && now + start, end && now + end);
    expect(versionsOf(await fixture.reconcile(await classAt('202606.01.0')))).toEqual([expected]);
  });

  it('waits, and says why, when the window cannot be read', async () => {
    fixture = await AzureFixture.start({ systemNamespace: NAMESPACE });
    await window(fixture.clock.now(), undefined);
    const stored = await classAt('202606.01.0');
    const { status, errors } = await fixture.cloud.nodeClass.reconcileStatus(stored, await fixture.controlPlane());
    expect(versionsOf({ ...stored, status })).toEqual(['202606.01.0']);
    expect(errors).toMatchObject([{ code: 'MaintenanceWindowUnreadable' }]);
  });

  it('does not matter to a pinned class, which may go back, also outside the window; a pin without images is refused', async () => {
    fixture = await AzureFixture.start({ systemNamespace: NAMESPACE });
    const now = fixture.clock.now();
    await window(now + HOUR, now + 2 * HOUR);
    const made = await fixture.makeNodeClass('default');
    const pinnedTo = (version: string): AksNodeClass => ({
      ...made,
      metadata: { ...made.metadata, annotations: { 'nodewright.dev/image-version': version } },
    });
    const statusOf = async (nodeClass: AksNodeClass): Promise<AksNodeClass> => ({
      ...nodeClass,
      status: (await fixture.finish(fixture.cloud.nodeClass.reconcileStatus(nodeClass, await fixture.controlPlane())))
        .status,
    });
    expect(versionsOf(await statusOf(pinnedTo('202606.01.0')))).toEqual(['202606.01.0']);
    const missing = await statusOf(pinnedTo('199901.01.0'));
    expect(condition(missing, 'ImagesReady')).toMatchObject({
      reason: 'ImagesNotFound',
      message: 'Azure publishes no image of version 199901.01.0 for this class.',
    });
  });

  it('is previewed while it waits for the window, and so is a version that the class requests', async () => {
    fixture = await AzureFixture.start({ systemNamespace: NAMESPACE });
    const now = fixture.clock.now();
    await window(now + HOUR, now + 2 * HOUR);
    const old = await classAt('202606.01.0');
    const previewsOf = async (annotations: Record<string, string>) => {
      const nodeClass = { ...old, metadata: { ...old.metadata, annotations } };
      const { status, previews } = await fixture.finish(
        fixture.cloud.nodeClass.reconcileStatus(nodeClass, await fixture.controlPlane()),
      );
      expect(versionsOf({ ...old, status })).toEqual(['202606.01.0']);
      return previews.map(({ when, version, images }) => [
        when,
        version,
        ...versionsOf({ ...old, status: { images: [...images] } }),
      ]);
    };
    expect(await previewsOf({})).toEqual([['window', undefined, NEWEST]]);
    expect(await previewsOf({ 'nodewright.dev/preview-image-version': '202610.15.0' })).toEqual([
      ['window', undefined, NEWEST],
      ['pinned', '202610.15.0', '202610.15.0'],
    ]);
    expect(
      await previewsOf({
        'nodewright.dev/image-version': '202606.01.0',
        'nodewright.dev/preview-image-version': '199901.01.0',
      }),
    ).toEqual([['pinned', '199901.01.0']]);
  });

  it('is reported in the status, with the time and the previous version, until the next one', async () => {
    fixture = await AzureFixture.start();
    const made = await fixture.makeNodeClass('default');
    const message = (nodeClass: AksNodeClass) => condition(nodeClass, 'ImagesReady')?.message;
    expect(message(made)).toBe(`boots ${NEWEST} since 2026-11-15T00:00:00Z`);
    await fixture.clock.advance(HOUR);
    expect(message(await fixture.reconcile(made))).toBe(`boots ${NEWEST} since 2026-11-15T00:00:00Z`);
    await fixture.kube.delete(Kinds.AKSNodeClass, { name: 'default' });
    const moved = await fixture.reconcile(await classAt('202606.01.0'));
    expect(message(moved)).toMatch(/^boots 202610.15.0 since 2026-11-15T01:.*, before that 202606.01.0$/);
  });

  it('never takes a class back to an older image', async () => {
    fixture = await AzureFixture.start();
    expect(versionsOf(await fixture.reconcile(await classAt('202611.01.0')))).toEqual(['202611.01.0']);
  });

  it('comes with a new Kubernetes version, outside the window too; an older version changes nothing', async () => {
    fixture = await AzureFixture.start({ systemNamespace: NAMESPACE });
    const now = fixture.clock.now();
    await window(now + HOUR, now + 2 * HOUR);
    const old = await classAt('202606.01.0');
    fixture.version = '1.36.2';
    await fixture.restart();
    const kept = await fixture.reconcile(old);
    expect([kept.status?.kubernetesVersion, ...versionsOf(kept)]).toEqual(['1.36.3', '202606.01.0']);
    fixture.version = '1.36.4';
    await fixture.restart();
    const upgraded = await fixture.reconcile(kept);
    expect([upgraded.status?.kubernetesVersion, ...versionsOf(upgraded)]).toEqual(['1.36.4', NEWEST]);
  });
});

describe('a field that the provision mode does not support', () => {
  it.each([{ artifactStreaming: { enabled: true } }])('is refused by a condition: %j', async (spec) => {
    fixture = await AzureFixture.start();
    const refused = await fixture.makeNodeClass('default', spec);
    expect(condition(refused, 'ValidationSucceeded')).toMatchObject({
      status: 'False',
      reason: 'UnsupportedInProvisionMode',
    });
    expect(condition(refused, 'Ready')?.status).toBe('False');
    await fixture.restart({ provisionMode: 'bootstrappingclient', nodeBootstrappingServerUrl: 'https://x.invalid' });
    expect(condition(await fixture.reconcile(refused), 'Ready')?.status).toBe('True');
  });
});

describe('settings that keep a kubelet from starting', () => {
  it.each([
    [{ cpuCFSQuotaPeriod: '2s' }, /cpuCFSQuotaPeriod 2s; it takes 1ms to 1s/],
    [{ cpuCFSQuotaPeriod: 'soon' }, /cpuCFSQuotaPeriod soon/],
    [{ imageGCHighThresholdPercent: 80 }, /above 80 % of the disk until 80 %/],
    [{ imageGCLowThresholdPercent: 90 }, /above 85 % of the disk until 90 %/],
  ])('are refused by a condition, where AKS does not validate them: %j', async (kubelet, message) => {
    fixture = await AzureFixture.start();
    const refused = await fixture.makeNodeClass('default', { kubelet: { ...kubeletDefaults, ...kubelet } });
    expect(condition(refused, 'ValidationSucceeded')).toMatchObject({
      status: 'False',
      reason: 'KubeletSettingsInvalid',
      message: expect.stringMatching(message) as string,
    });
    expect(condition(refused, 'Ready')?.status).toBe('False');
  });
});

describe('the DNS cache of nodes', () => {
  const overrides = ['.', 'cluster.local'].map((zone) => ({
    zone,
    cacheDuration: '60m',
    forwardDestination: zone === '.' ? ('VnetDNS' as const) : ('ClusterCoreDNS' as const),
    forwardPolicy: 'Random' as const,
    maxConcurrent: 100,
    protocol: 'PreferUDP' as const,
    queryLogging: 'Log' as const,
    serveStale: 'Immediate' as const,
    serveStaleDuration: '60m',
  }));
  const localDNS = (mode: 'Preferred' | 'Required' | 'Disabled') => ({
    mode,
    vnetDNSOverrides: overrides,
    kubeDNSOverrides: overrides,
  });

  const server = { provisionMode: 'bootstrappingclient', nodeBootstrappingServerUrl: 'https://x.invalid' } as const;
  const preferredIn = async (spec: Partial<AksNodeClassSpec> = {}): Promise<AksNodeClass> =>
    fixture.makeNodeClass('default', { localDNS: localDNS('Preferred'), ...spec });
  /** A cluster of the version from which AKS turns on what is preferred. */
  const startLater = async (options: Partial<AzureCloudProviderOptions> = {}): Promise<void> => {
    fixture = await AzureFixture.start({ ...server, networkPolicy: 'cilium', ...options });
    fixture.version = '1.99.0';
    await fixture.kube.create(Kinds.Namespace, { metadata: { name: NAMESPACE } });
  };
  const policy = async (name: string): Promise<void> => {
    const draft = { metadata: { namespace: NAMESPACE, name }, spec: { podSelector: {} } };
    await fixture.kube.create(NETWORK_POLICIES, draft);
  };
  const ciliumPolicy = async (): Promise<void> => {
    await fixture.kube.create(Kinds.CustomResourceDefinition, CILIUM_POLICIES);
    await fixture.kube.create(
      { ...CILIUM_POLICIES.spec.names, group: 'cilium.io', version: 'v2', namespaced: false },
      { metadata: { name: 'mine' } },
    );
  };

  it.each<[Partial<AksNodeClassSpec>, 'True' | 'False']>([
    [{}, 'False'],
    [{ imageFamily: 'AzureLinux' }, 'True'],
    [{ localDNS: localDNS('Preferred') }, 'True'],
    [{ security: { trustedLaunch: { vtpm: true } } }, 'True'],
  ])('that is required is refused where the images of the class have none: FIPS and %j', async (more, status) => {
    fixture = await AzureFixture.start({ ...server, useSig: true, sigSubscriptionId: 'sig' });
    const made = await fixture.makeNodeClass('default', { localDNS: localDNS('Required'), fipsMode: 'FIPS', ...more });
    const reason = status === 'True' ? 'ValidationSucceeded' : 'LocalDNSUnsupported';
    expect(condition(made, 'ValidationSucceeded')).toMatchObject({ status, reason });
  });

  it('that is preferred is on from Kubernetes 1.99 where nothing conflicts with it', async () => {
    await startLater();
    await policy('konnectivity-agent');
    expect((await preferredIn()).status?.localDNSState).toBe('Enabled');
  });

  it.each<[string, Partial<AzureCloudProviderOptions>, Partial<AksNodeClassSpec>, () => Promise<unknown>]>([
    ['an older Kubernetes', {}, {}, async () => (fixture.version = '1.98.9')],
    ['a network plugin of the user', { networkPlugin: 'none', networkPluginMode: '' }, {}, async () => undefined],
    ['Ubuntu 20.04', { useSig: true, sigSubscriptionId: 's' }, { fipsMode: 'FIPS' }, async () => undefined],
    ['a network policy', {}, {}, () => policy('mine')],
    ['a policy of Cilium', {}, {}, ciliumPolicy],
    [
      'a DNS cache of the user',
      {},
      {},
      async () => fixture.kube.create(Kinds.DaemonSet, daemonSet('kube-system', 'node-local-dns')),
    ],
    ['a provision mode without it', { provisionMode: 'aksscriptless' }, {}, async () => undefined],
  ])('that is preferred is off with %s', async (_obstacle, options, spec, prepare) => {
    await startLater(options);
    await prepare();
    const made = await preferredIn(spec);
    expect(made.status?.localDNSState).toBe('Disabled');
    expect(condition(made, 'LocalDNSReady')?.status).toBe('True');
  });

  it('that is preferred does not look at policies that no engine of the cluster enforces', async () => {
    await startLater({ networkPolicy: '' });
    await policy('mine');
    expect((await preferredIn()).status?.localDNSState).toBe('Enabled');
  });

  it('that is preferred waits, and says why, while the cluster cannot be asked', async () => {
    await startLater();
    const list = fixture.kube.list.bind(fixture.kube);
    fixture.kube.list = (kind, options) =>
      kind.plural === 'networkpolicies'
        ? Promise.reject(new KubeError({ code: 403, reason: 'Forbidden', message: 'networkpolicies is forbidden' }))
        : list(kind, options);
    const made = await preferredIn();
    expect(condition(made, 'LocalDNSReady')).toMatchObject({
      status: 'False',
      reason: 'CheckingClusterRequirementsFailed',
      message: 'Whether the cluster allows a DNS cache on nodes cannot be checked: networkpolicies is forbidden',
    });
    fixture.kube.list = list;
    expect((await fixture.reconcile(made)).status?.localDNSState).toBe('Enabled');
  });

  it('that is preferred is off for every current Kubernetes version, and stays on where it is on', async () => {
    fixture = await AzureFixture.start(server);
    const made = await fixture.makeNodeClass('default', { localDNS: localDNS('Preferred') });
    expect(condition(made, 'LocalDNSReady')?.status).toBe('True');
    expect(made.status?.localDNSState).toBe('Disabled');
    const on = { ...made, status: { ...made.status, localDNSState: 'Enabled' as const } };
    expect((await fixture.reconcile(on)).status?.localDNSState).toBe('Enabled');
    const required = await fixture.makeNodeClass('required', { localDNS: localDNS('Required') });
    expect(required.status?.localDNSState).toBe('Enabled');
    expect((await fixture.makeNodeClass('none')).status?.localDNSState).toBe('Disabled');
  });
});

it('is refused in a cluster with IPv6 services', async () => {
  fixture = await AzureFixture.start({ dnsServiceIp: 'fd00::a' });
  const refused = await fixture.makeNodeClass('default');
  expect(condition(refused, 'ValidationSucceeded')).toMatchObject({ status: 'False', reason: 'UnsupportedNetwork' });
  expect(condition(refused, 'ValidationSucceeded')?.message).toMatch(/IPv4 clusters only/);
  await expect(fixture.launch(fixture.claimNamed('pool-1'))).rejects.toBeInstanceOf(NodeClassNotReadyError);
});

describe('the disk encryption set', () => {
  const start = async (): Promise<void> => {
    fixture = await AzureFixture.start();
    const { subscriptionId, nodeResourceGroup } = fixture.arm;
    const diskEncryptionSetId = `/subscriptions/${subscriptionId}/resourceGroups/${nodeResourceGroup}/providers/Microsoft.Compute/diskEncryptionSets/mine`;
    await fixture.restart({ diskEncryptionSetId });
  };

  it('must be readable, and is checked again soon when it is not', async () => {
    await start();
    const error = new ArmError(403, 'AuthorizationFailed', 'No.');
    fixture.failNext('diskEncryptionSets.get', { kind: 'refuse', error }, 100);
    const refused = await fixture.makeNodeClass('default');
    expect(condition(refused, 'ValidationSucceeded')).toMatchObject({
      status: 'False',
      reason: 'DiskEncryptionSetRBACMissing',
    });
    await fixture.reconcile(refused);
    expect(fixture.callsOf('diskEncryptionSets.get')).toHaveLength(1);
    await fixture.clock.advance(61_000);
    await fixture.reconcile(await fixture.kube.get(Kinds.AKSNodeClass, { name: 'default' }));
    expect(fixture.callsOf('diskEncryptionSets.get')).toHaveLength(2);
  });

  it('is read once an hour for all classes when it is readable', async () => {
    await start();
    await fixture.makeEncryptionSet('mine');
    const reads = (): number => fixture.callsOf('diskEncryptionSets.get').length;
    const before = reads();
    const ready = await fixture.makeNodeClass('default');
    expect(condition(ready, 'ValidationSucceeded')).toMatchObject({ status: 'True' });
    await fixture.makeNodeClass('other');
    for (let look = 0; look < 10; look++) {
      await fixture.clock.advance(3 * MINUTE);
      await fixture.reconcile(await fixture.kube.get(Kinds.AKSNodeClass, { name: 'default' }));
    }
    expect(reads() - before).toBe(1);
    await fixture.clock.advance(31 * MINUTE);
    await fixture.reconcile(await fixture.kube.get(Kinds.AKSNodeClass, { name: 'default' }));
    expect(reads() - before).toBe(2);
  });
});
