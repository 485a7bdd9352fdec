import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderCrds } from '../../../src/api/crds.ts';
import { startControlPlane } from '../../controlplane/controlPlane.ts';
import type { ControlPlane } from '../../controlplane/controlPlane.ts';
import { installCrds } from './installCrds.ts';
import { connectRaw } from './rawClient.ts';
import type { Answer, RawClient } from './rawClient.ts';
import { SAMPLES } from './samples.ts';

const ref = { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' };

type Spec = Readonly<Record<string, unknown>>;

const pool = (spec: Spec = {}, template: Spec = {}, labels?: Readonly<Record<string, string>>): Spec => ({
  template: {
    ...(labels === undefined ? {} : { metadata: { labels } }),
    spec: { nodeClassRef: ref, requirements: [], ...template },
  },
  ...spec,
});
const requirement = (key: string, operator: string, values?: readonly string[], minValues?: unknown) => ({
  requirements: [
    { key, operator, ...(values === undefined ? {} : { values }), ...(minValues === undefined ? {} : { minValues }) },
  ],
});
const claim = (spec: Spec = {}): Spec => ({ nodeClassRef: ref, requirements: [], ...spec });
const overlay = (spec: Spec = {}): Spec => ({ requirements: [], ...spec });
const disruption = { budgets: [{ nodes: '10%' }], consolidationPolicy: 'WhenEmptyOrUnderutilized' };
const dns = (change: Spec = {}, zones = ['.', 'cluster.local']): Spec => ({
  localDNS: {
    mode: 'Required',
    kubeDNSOverrides: zones.map((zone) => override(zone, {})),
    vnetDNSOverrides: zones.map((zone) =>
      override(zone, zone === '.' ? { forwardDestination: 'VnetDNS', ...change } : {}),
    ),
  },
});
const override = (zone: string, change: Spec) => ({
  zone,
  queryLogging: 'Log',
  protocol: 'ForceTCP',
  forwardDestination: 'ClusterCoreDNS',
  forwardPolicy: 'Random',
  maxConcurrent: 0,
  cacheDuration: '1h',
  serveStaleDuration: '1h',
  serveStale: 'Disable',
  ...change,
});

/** Kind, spec, and what must be part of the admitted spec. */
const ACCEPTED: readonly [string, Spec | undefined, Spec | undefined][] = [
  ['NodePool', pool(), { disruption: { ...disruption, consolidateAfter: '0s' } }],
  [
    'NodePool',
    pool({ disruption: { consolidateAfter: 'Never', budgets: [{}] } }),
    { disruption: { ...disruption, consolidateAfter: 'Never' } },
  ],
  ['NodePool', pool(), { template: { spec: { nodeClassRef: ref, requirements: [], expireAfter: '720h' } } }],
  ['NodePool', pool({}, requirement('karpenter.sh/capacity-type', 'In', ['spot'])), {}],
  ['NodePool', pool({}, requirement('a', 'NotIn')), {}],
  ['NodePool', pool({}, requirement('a', 'In', ['not a label value!'])), {}],
  ['NodePool', pool({ weight: 10, limits: { cpu: 5, memory: '1Gi' }, unknown: true }), { weight: 10 }],
  ['NodePool', pool({ replicas: 0, limits: { nodes: 1, memory: null } }), { replicas: 0, limits: { nodes: 1 } }],
  ['NodePool', pool({}, {}, { 'not a label key!': 'x', '': 'y' }), {}],
  [
    'NodePool',
    pool({
      disruption: { consolidateAfter: '1m', budgets: [{ nodes: '0', schedule: '@dailyfoo', duration: '1h30m0s' }] },
    }),
    {},
  ],
  ['NodeClaim', claim(), { expireAfter: '720h' }],
  ['NodeClaim', claim(requirement('karpenter.sh/nodepool', 'In', ['x'])), {}],
  ['NodeOverlay', overlay({ price: '0.5' }), { price: '0.5' }],
  ['NodeOverlay', overlay({ priceAdjustment: '-100%', weight: 10000, capacity: { 'a/b': 1 } }), {}],
  ['AKSNodeClass', undefined, undefined],
  ['AKSNodeClass', {}, { imageFamily: 'Ubuntu', osDiskSizeGB: 128 }],
  [
    'AKSNodeClass',
    { kubelet: {}, gpu: {} },
    {
      gpu: { mode: 'Driver' },
      kubelet: {
        cpuManagerPolicy: 'none',
        cpuCFSQuota: true,
        cpuCFSQuotaPeriod: '100ms',
        topologyManagerPolicy: 'none',
        containerLogMaxSize: '50Mi',
        containerLogMaxFiles: 5,
      },
    },
  ],
  ['AKSNodeClass', dns(), {}],
  [
    'AKSNodeClass',
    { imageFamily: 'Ubuntu2204', fipsMode: 'FIPS', security: { trustedLaunch: { secureBoot: true } } },
    {},
  ],
  ['AKSNodeClass', { tags: { 'a/b': 'c' } }, { tags: { 'a/b': 'c' } }],
  ['CapacityBuffer', {}, { provisioningStrategy: 'buffer.x-k8s.io/active-capacity' }],
  ['CapacityBuffer', { podTemplateRef: { name: 'x' }, limits: { cpu: 1 } }, {}],
  ['KWOKNodeClass', { nodeRegistrationDelay: '1m30s' }, { nodeRegistrationDelay: '1m30s' }],
];

/** Kind, spec, and what the refusal must say. */
const REFUSED: readonly [string, Spec | undefined, string][] = [
  ['NodePool', undefined, 'spec: Required value'],
  ['NodePool', {}, 'spec.template: Required value'],
  ['NodePool', pool({ disruption: {} }), 'spec.disruption.consolidateAfter: Required value'],
  [
    'NodePool',
    pool({ disruption: { consolidateAfter: '1d' } }),
    'spec.disruption.consolidateAfter in body should match',
  ],
  [
    'NodePool',
    pool({ disruption: { consolidateAfter: '1m', budgets: [{ nodes: '101%' }] } }),
    'spec.disruption.budgets[0].nodes in body should match',
  ],
  [
    'NodePool',
    pool({ disruption: { consolidateAfter: '1m', budgets: [{ schedule: '@daily' }] } }),
    "'schedule' and 'duration' of a budget belong together",
  ],
  [
    'NodePool',
    pool({ disruption: { consolidateAfter: '1m', budgets: [{ reasons: ['Empty', 'Empty'] }] } }),
    'reasons[1]: Duplicate value: "Empty"',
  ],
  [
    'NodePool',
    pool({ disruption: { consolidateAfter: '1m', budgets: [{ reasons: ['Expired'] }] } }),
    'supported values: "Underutilized", "Empty", "Drifted"',
  ],
  ['NodePool', pool({ weight: 0 }), 'spec.weight in body should be greater than or equal to 1'],
  ['NodePool', pool({ weight: 101 }), 'spec.weight in body should be less than or equal to 100'],
  ['NodePool', pool({ replicas: 1, weight: 1 }), "cannot have a 'weight'"],
  ['NodePool', pool({ replicas: 1, limits: { nodes: 1, cpu: 1 } }), "can only have the limit 'nodes'"],
  ['NodePool', pool({ replicas: 2 ** 31 }), 'should be less than or equal to 2147483647'],
  ['NodePool', pool({ limits: { cpu: '1 core' } }), 'spec.limits.cpu in body should match'],
  ['NodePool', pool({}, { nodeClassRef: { ...ref, name: '' } }), 'name may not be empty'],
  ['NodePool', pool({}, { nodeClassRef: { ...ref, group: 'a/b' } }), 'nodeClassRef.group in body should match'],
  [
    'NodePool',
    pool({}, { taints: [{ key: 'a', effect: 'NoSchedule', value: '' }] }),
    'taints[0].value in body should match',
  ],
  ['NodePool', pool({}, { taints: [{ key: 'a' }] }), 'spec.template.spec.taints[0].effect: Required value'],
  ['NodePool', pool({}, requirement('a', 'Like')), 'supported values: "Gte", "Lte", "In"'],
  ['NodePool', pool({}, requirement('a', 'In', [])), "operator 'In' needs at least one value"],
  ['NodePool', pool({}, requirement('a', 'Gt', ['1', '2'])), 'a whole number of 0 or more'],
  ['NodePool', pool({}, requirement('a', 'Lte', ['x'])), 'a whole number of 0 or more'],
  ['NodePool', pool({}, requirement('a', 'In', ['x'], 2)), "'minValues' must list at least that many"],
  ['NodePool', pool({}, requirement('a', 'In', ['x'], 51)), 'minValues in body should be less than or equal to 50'],
  ['NodePool', pool({}, requirement('karpenter.sh/nodepool', 'Exists')), 'label "karpenter.sh/nodepool" is restricted'],
  ['NodePool', pool({}, requirement('foo-karpenter.sh/x', 'Exists')), 'label domain "karpenter.sh" is restricted'],
  [
    'NodePool',
    pool({}, requirement('karpenter.azure.com/x', 'Exists')),
    'label domain "karpenter.azure.com" is restricted',
  ],
  [
    'NodePool',
    pool({}, requirement('kubernetes.azure.com/x', 'Exists')),
    'label domain "kubernetes.azure.com" is restricted',
  ],
  ['NodePool', pool({}, requirement('agentpool', 'Exists')), 'label "agentpool" is restricted'],
  ['NodePool', pool({}, {}, { 'kubernetes.io/hostname': 'x' }), 'label "kubernetes.io/hostname" is restricted'],
  ['NodePool', pool({}, {}, { storagetier: 'x' }), 'label "storagetier" is restricted'],
  ['NodePool', pool({}, {}, { a: 'x y' }), 'spec.template.metadata.labels.a in body should match'],
  ['NodeClaim', { nodeClassRef: ref }, 'spec.requirements: Required value'],
  ['NodeClaim', claim(requirement('kubernetes.io/hostname', 'Exists')), 'label "kubernetes.io/hostname" is restricted'],
  ['NodeClaim', claim({ terminationGracePeriod: 'Never' }), 'spec.terminationGracePeriod in body should match'],
  ['NodeOverlay', overlay({ price: '1', priceAdjustment: '+1' }), 'exclude each other'],
  ['NodeOverlay', overlay({ priceAdjustment: '5%' }), 'spec.priceAdjustment in body should match'],
  ['NodeOverlay', overlay({ capacity: { cpu: 1 } }), 'are restricted: an overlay can only add other resources'],
  ['NodeOverlay', overlay(requirement('a', 'NotIn', [])), "operator 'NotIn' needs at least one value"],
  ['NodeOverlay', overlay({ weight: 10001 }), 'should be less than or equal to 10000'],
  [
    'AKSNodeClass',
    { imageFamily: 'AzureLinux3' },
    'supported values: "Ubuntu", "Ubuntu2204", "Ubuntu2404", "AzureLinux"',
  ],
  ['AKSNodeClass', { osDiskSizeGB: 29 }, 'should be greater than or equal to 30'],
  ['AKSNodeClass', { imageFamily: 'Ubuntu2404', fipsMode: 'FIPS' }, 'FIPS images of Ubuntu2404 do not exist yet'],
  ['AKSNodeClass', { imageFamily: 'Ubuntu2204', fipsMode: 'FIPS' }, 'need Trusted Launch'],
  [
    'AKSNodeClass',
    { imageFamily: 'AzureLinux', fipsMode: 'FIPS', security: { trustedLaunch: { vtpm: true } } },
    'exists only for the image families Ubuntu and Ubuntu2204',
  ],
  ['AKSNodeClass', { linuxOSConfig: { swapFileSize: '1Gi' } }, 'needs kubelet.failSwapOn to be set to false'],
  [
    'AKSNodeClass',
    { kubelet: { imageGCHighThresholdPercent: 50, imageGCLowThresholdPercent: 50 } },
    'must be greater than imageGCLowThresholdPercent',
  ],
  ['AKSNodeClass', { kubelet: { containerLogMaxSize: '50' } }, 'containerLogMaxSize in body should match'],
  ['AKSNodeClass', { maxPods: 251 }, 'should be less than or equal to 250'],
  ['AKSNodeClass', { vnetSubnetID: '/subscriptions/x' }, 'spec.vnetSubnetID in body should match'],
  ['AKSNodeClass', { tags: { 'a<b': 'c' } }, 'the key of a tag cannot contain'],
  ['AKSNodeClass', { tags: { 'a\\b': 'c' } }, "cannot contain '\\'"],
  ['AKSNodeClass', { tags: { a: 'x'.repeat(257) } }, 'at most 256 characters'],
  ['AKSNodeClass', { linuxOSConfig: { sysctls: { netIPv4IPLocalPortRange: '1000 60999' } } }, 'between 1024 and 60999'],
  [
    'AKSNodeClass',
    { linuxOSConfig: { sysctls: { netCoreRmemDefault: 300000, netCoreRmemMax: 212992 } } },
    'netCoreRmemDefault must not be greater than netCoreRmemMax',
  ],
  ['AKSNodeClass', dns({}, ['.']), "the zones '.' and 'cluster.local' must both be listed"],
  ['AKSNodeClass', dns({ forwardDestination: 'ClusterCoreDNS' }), "root zone '.' of vnetDNSOverrides"],
  ['AKSNodeClass', dns({}, ['.', 'cluster.local', 'example.com']), "only zones under 'cluster.local'"],
  ['AKSNodeClass', dns({ serveStale: 'Verify' }), 'serveStale Verify cannot be combined with protocol ForceTCP'],
  ['AKSNodeClass', dns({}, ['.', 'cluster.local', '.']), 'Duplicate value: {"zone":"."}'],
  ['CapacityBuffer', { podTemplateRef: { name: 'x' } }, "'podTemplateRef' needs 'replicas' or 'limits'"],
  [
    'CapacityBuffer',
    { podTemplateRef: { name: 'x' }, replicas: 1, scalableRef: { kind: 'a', name: 'b' } },
    'exclude each other',
  ],
  [
    'CapacityBuffer',
    { scalableRef: { kind: '', name: 'b' } },
    'spec.scalableRef.kind in body should be at least 1 chars long',
  ],
  ['KWOKNodeClass', { nodeRegistrationDelay: '5' }, 'spec.nodeRegistrationDelay in body should match'],
];

/** Kind, spec before, spec after, and what the refusal must say; nothing where the change is allowed. */
const CHANGES: readonly [string, Spec, Spec, string | undefined][] = [
  ['NodePool', pool(), pool({ weight: 5 }, { nodeClassRef: { ...ref, name: 'other' } }), undefined],
  ['NodePool', pool(), pool({}, { nodeClassRef: { ...ref, kind: 'Other' } }), 'nodeClassRef.kind cannot be changed'],
  ['NodePool', pool(), pool({}, { nodeClassRef: { ...ref, group: 'other' } }), 'nodeClassRef.group cannot be changed'],
  ['NodePool', pool({ replicas: 1 }), pool(), 'cannot be changed between static'],
  ['NodeClaim', claim(), claim({ expireAfter: null, unknown: 1 }), undefined],
  [
    'NodeClaim',
    claim({ terminationGracePeriod: '45m' }),
    claim({ terminationGracePeriod: '2700s' }),
    'the spec of a NodeClaim cannot be changed',
  ],
  ['NodeClaim', claim({ taints: [] }), claim(), 'the spec of a NodeClaim cannot be changed'],
  ['AKSNodeClass', {}, { imageFamily: 'AzureLinux' }, undefined],
];

describe('admission', () => {
  let plane: ControlPlane;
  let client: RawClient;

  beforeAll(async () => {
    plane = await startControlPlane();
    await installCrds(plane, renderCrds());
    client = await connectRaw(plane.adminKubeconfig, 2);
  });

  afterAll(async () => {
    await client?.close();
    await plane?.stop();
  });

  const send = (
    kind: string,
    spec: Spec | undefined,
    method: 'POST' | 'PUT',
    query: string,
    metadata: object = { name: 'subject' },
  ) => {
    const sample = SAMPLES.find((each) => each.kind === kind);
    if (sample === undefined) throw new Error(`no kind ${kind}`);
    const namespace = sample.namespaced ? '/namespaces/default' : '';
    const name = method === 'PUT' ? '/subject' : '';
    const path = `/apis/${sample.group}/${sample.version}${namespace}/${sample.plural}${name}?${query}`;
    const object = {
      apiVersion: `${sample.group}/${sample.version}`,
      kind,
      metadata,
      ...(spec === undefined ? {} : { spec }),
    };
    return client.send(method, path, JSON.stringify(object));
  };

  /** `admitted`, or the reason why not. */
  const outcome = (answer: Answer): string => (answer.code < 300 ? 'admitted' : String(answer.body['message']));

  it.each(ACCEPTED)('%s accepts %j', async (kind, spec, expected) => {
    const answer = await send(kind, spec, 'POST', 'dryRun=All');
    expect(outcome(answer)).toBe('admitted');
    expect({ spec: answer.body['spec'] }).toMatchObject({ spec: expected });
  });

  it.each(REFUSED)('%s refuses %j', async (kind, spec, message) => {
    const answer = await send(kind, spec, 'POST', 'dryRun=All');
    expect(answer.code).toBe(422);
    expect(outcome(answer)).toContain(message);
  });

  it.each(CHANGES)('%s changed from %j to %j', async (kind, before, after, message) => {
    const created = await send(kind, before, 'POST', '');
    expect(outcome(created)).toBe('admitted');
    const answer = await send(kind, after, 'PUT', 'dryRun=All', created.body['metadata'] as object);
    const sample = SAMPLES.find((each) => each.kind === kind);
    await plane.kubectl(['delete', `${sample?.plural}.${sample?.group}`, 'subject']);
    expect(outcome(answer)).toContain(message ?? 'admitted');
  });
});
