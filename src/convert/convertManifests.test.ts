import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../api/schema/json.ts';
import { parseYamlDocuments } from '../api/yaml/parseYaml.ts';
import { printYaml } from '../api/yaml/printYaml.ts';
import { readManifests } from '../plan/readManifests.ts';
import { changeText } from './change.ts';
import { convertManifests, type Conversion } from './convertManifests.ts';

function convert(yaml: string, region = 'westeurope'): Conversion {
  return convertManifests(parseYamlDocuments(yaml) as JsonObject[], { region });
}

const printed = ({ objects }: Conversion): string => objects.map((object) => `---\n${printYaml(object)}`).join('');

/** What the API server would say of the objects. */
function mistakesIn(conversion: Conversion): readonly string[] {
  return readManifests([{ source: 'converted', text: printed(conversion) }]).mistakes.map(({ message }) => message);
}

const EKS = `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: general
  uid: 3d9b
  annotations: {karpenter.sh/nodepool-hash: "12", team: shop}
spec:
  weight: 10
  limits: {cpu: 1000, memory: 1000Gi, vpc.amazonaws.com/pod-eni: 10}
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 1m, budgets: [{nodes: 20%}]}
  template:
    metadata: {labels: {tier: web, karpenter.k8s.aws/cluster: shop}}
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      expireAfter: 720h
      taints: [{key: tier, value: web, effect: NoSchedule}]
      startupTaints: [{key: ebs.csi.aws.com/agent-not-ready, effect: NoExecute}]
      requirements:
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r, mac], minValues: 4}
        - {key: karpenter.k8s.aws/instance-generation, operator: Gt, values: ["2"]}
        - {key: karpenter.k8s.aws/instance-cpu, operator: Lt, values: ["33"]}
        - {key: karpenter.k8s.aws/instance-size, operator: NotIn, values: [nano, 16xlarge]}
        - {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a, us-east-1c, us-east-1f]}
        - {key: karpenter.sh/capacity-type, operator: In, values: [reserved, spot, on-demand]}
        - {key: kubernetes.io/arch, operator: In, values: [amd64]}
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: KarpenterNodeRole-shop
  amiSelectorTerms: [{alias: al2023@v20240807}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: shop}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: shop}}]
  tags: {team: shop, karpenter.sh/discovery: shop, "a<b": no}
  blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 100Gi, volumeType: gp3, encrypted: true}}]
  kubelet: {maxPods: 300, imageGCHighThresholdPercent: 85, systemReserved: {cpu: 100m}}
`;

describe('convertManifests', () => {
  it('turns pools and classes of AWS into those of Azure, and lists what is lost', () => {
    const conversion = convert(EKS);
    expect(printed(conversion)).toMatchInlineSnapshot(`
      "---
      apiVersion: karpenter.azure.com/v1beta1
      kind: AKSNodeClass
      metadata:
        name: default
      spec:
        imageFamily: AzureLinux
        osDiskSizeGB: 100
        maxPods: 250
        kubelet:
          imageGCHighThresholdPercent: 85
        tags:
          team: shop
      ---
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata:
        name: general
        annotations:
          team: shop
      spec:
        weight: 10
        limits:
          cpu: 1000
          memory: 1000Gi
        disruption:
          consolidationPolicy: WhenEmptyOrUnderutilized
          consolidateAfter: 1m
          budgets:
            - nodes: 20%
        template:
          metadata:
            labels:
              tier: web
          spec:
            nodeClassRef:
              group: karpenter.azure.com
              kind: AKSNodeClass
              name: default
            requirements:
              - key: karpenter.azure.com/sku-family
                operator: In
                values:
                  - F
                  - D
                  - E
                minValues: 3
              - key: karpenter.azure.com/sku-cpu
                operator: Lt
                values:
                  - "33"
              - key: karpenter.azure.com/sku-cpu
                operator: NotIn
                values:
                  - "64"
              - key: topology.kubernetes.io/zone
                operator: In
                values:
                  - westeurope-1
                  - westeurope-3
              - key: karpenter.sh/capacity-type
                operator: In
                values:
                  - spot
                  - on-demand
              - key: kubernetes.io/arch
                operator: In
                values:
                  - amd64
            taints:
              - key: tier
                value: web
                effect: NoSchedule
            expireAfter: 720h
      "
    `);
    expect(conversion.changes.map(changeText)).toMatchInlineSnapshot(`
      [
        "changed NodePool general: spec.template.spec.requirements[0]: karpenter.k8s.aws/instance-category In c, m, r, mac → karpenter.azure.com/sku-family In F, D, E (the nearest that Azure has; mac has no equal)",
        "dropped NodePool general: spec.template.spec.requirements[1]: karpenter.k8s.aws/instance-generation Gt 2 (generations of other clouds cannot be compared with versions of Azure; see karpenter.azure.com/sku-version)",
        "changed NodePool general: spec.template.spec.requirements[2]: karpenter.k8s.aws/instance-cpu → karpenter.azure.com/sku-cpu (the same fact has this label on Azure)",
        "changed NodePool general: spec.template.spec.requirements[3]: karpenter.k8s.aws/instance-size NotIn nano, 16xlarge → karpenter.azure.com/sku-cpu NotIn 64 (the nearest that Azure has; nano has no equal)",
        "changed NodePool general: spec.template.spec.requirements[4]: topology.kubernetes.io/zone In us-east-1a, us-east-1c, us-east-1f → topology.kubernetes.io/zone In westeurope-1, westeurope-3 (the nearest that Azure has; us-east-1f has no equal)",
        "changed NodePool general: spec.template.spec.requirements[5]: reserved, spot, on-demand → spot, on-demand (capacity reservations of Azure are used through on-demand nodes)",
        "dropped NodePool general: spec.template.metadata.labels[karpenter.k8s.aws/cluster]: shop (nodes on Azure cannot carry this label)",
        "dropped NodePool general: spec.template.spec.startupTaints[0]: ebs.csi.aws.com/agent-not-ready (nothing on Azure would lift or tolerate this taint)",
        "dropped NodePool general: spec.limits[vpc.amazonaws.com/pod-eni] (Azure has no such resource)",
        "dropped EC2NodeClass default: spec.role: KarpenterNodeRole-shop (nodes have the cluster's kubelet identity)",
        "dropped EC2NodeClass default: spec.subnetSelectorTerms: [{"tags":{"karpenter.sh/discovery":"shop"}}] (nodes join the cluster's subnet; set vnetSubnetID for another one)",
        "dropped EC2NodeClass default: spec.securityGroupSelectorTerms: [{"tags":{"karpenter.sh/discovery":"shop"}}] (AKS gives nodes the network security group of the cluster)",
        "dropped EC2NodeClass default: spec.amiSelectorTerms: version v20240807 (images of AKS have other versions; pin one with the annotation nodewright.dev/image-version)",
        "changed EC2NodeClass default: spec.amiSelectorTerms: al2023 → imageFamily AzureLinux (the nearest that AKS has)",
        "dropped EC2NodeClass default: spec.blockDeviceMappings.ebs.volumeType: gp3 (Azure sizes system disks by their capacity alone)",
        "dropped EC2NodeClass default: kubelet.systemReserved: {"cpu":"100m"} (AKS sets it by itself)",
        "changed EC2NodeClass default: kubelet.maxPods: 300 → 250 (nodes of AKS run from 10 to 250 pods)",
        "dropped EC2NodeClass default: spec.tags[karpenter.sh/discovery]: shop (only the other cloud reads it)",
        "dropped EC2NodeClass default: spec.tags[a<b]: false (Azure does not allow such a tag)",
      ]
    `);
    expect(mistakesIn(conversion)).toEqual([]);
  });

  it('reads the older API, where kubelet settings and expiry stood elsewhere', () => {
    const conversion = convert(`
apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata: {name: old}
spec:
  disruption: {consolidationPolicy: WhenUnderutilized, expireAfter: 240h}
  template:
    spec:
      nodeClassRef: {apiVersion: karpenter.k8s.aws/v1beta1, kind: EC2NodeClass, name: old}
      kubelet: {maxPods: 60, clusterDNS: [10.0.0.10]}
      resources: {requests: {cpu: 1}}
      requirements:
        - {key: karpenter.k8s.aws/instance-family, operator: In, values: [m6g, c7gn]}
        - {key: node.kubernetes.io/instance-type, operator: In, values: [m6g.large, c7gn.2xlarge, nope.large]}
---
apiVersion: karpenter.k8s.aws/v1beta1
kind: EC2NodeClass
metadata: {name: old}
spec: {amiFamily: Ubuntu}
`);
    expect(conversion.objects).toEqual([
      {
        apiVersion: 'karpenter.azure.com/v1beta1',
        kind: 'AKSNodeClass',
        metadata: { name: 'old' },
        spec: { imageFamily: 'Ubuntu', maxPods: 60 },
      },
      {
        apiVersion: 'karpenter.sh/v1',
        kind: 'NodePool',
        metadata: { name: 'old' },
        spec: {
          disruption: { consolidationPolicy: 'WhenEmptyOrUnderutilized', consolidateAfter: '0s' },
          template: {
            spec: {
              nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'old' },
              expireAfter: '240h',
              requirements: [
                { key: 'karpenter.azure.com/sku-family', operator: 'In', values: ['D', 'F'] },
                { key: 'kubernetes.io/arch', operator: 'In', values: ['arm64'] },
                { key: 'karpenter.azure.com/sku-cpu', operator: 'In', values: ['2', '8'] },
              ],
            },
          },
        },
      },
    ]);
    expect(conversion.changes.map(changeText)).toContainEqual(
      expect.stringMatching(/^dropped NodePool old: .* In nope\.large \(it is not known/),
    );
    expect(mistakesIn(conversion)).toEqual([]);
  });

  it('lists a part of a pool that has no fields', () => {
    const { changes } = convert(`
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: broken}
spec: [1]`);
    expect(changes).toContainEqual({
      object: 'NodePool broken',
      field: 'spec',
      outcome: 'dropped',
      from: '[1]',
      why: 'it must have fields; correct it and convert again',
    });
  });

  it('knows types of Google Cloud and EKS Auto Mode', () => {
    const conversion = convert(`
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: mixed}
spec:
  template:
    spec:
      nodeClassRef: {group: eks.amazonaws.com, kind: NodeClass, name: default}
      requirements:
        - {key: eks.amazonaws.com/instance-category, operator: In, values: [g]}
        - {key: eks.amazonaws.com/instance-gpu-name, operator: In, values: [a10g, radeon-pro-v520]}
        - {key: node.kubernetes.io/instance-type, operator: In, values: [n2-highmem-8, t2a-standard-4]}
        - {key: topology.kubernetes.io/zone, operator: In, values: [us-central1-b]}
`);
    const pool = conversion.objects[0] as { spec: { template: { spec: { requirements: unknown } } } };
    expect(pool.spec.template.spec.requirements).toEqual([
      { key: 'karpenter.azure.com/sku-family', operator: 'In', values: ['N'] },
      { key: 'karpenter.azure.com/sku-gpu-name', operator: 'In', values: ['A10'] },
      { key: 'karpenter.azure.com/sku-family', operator: 'In', values: ['E', 'D'] },
      { key: 'karpenter.azure.com/sku-cpu', operator: 'In', values: ['4', '8'] },
      { key: 'topology.kubernetes.io/zone', operator: 'In', values: ['westeurope-2'] },
    ]);
    expect(conversion.changes.map(changeText)).toContain(
      'left NodePool mixed: spec.template.spec.nodeClassRef: default (its class is not among the manifests: write an AKSNodeClass of that name)',
    );
  });

  it('leaves workloads alone, but says which of their labels no node will have', () => {
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web' },
      spec: { template: { spec: { nodeSelector: { 'karpenter.k8s.aws/instance-family': 'm5' } } } },
    };
    const conversion = convertManifests([deployment], { region: 'westeurope' });
    expect(conversion.objects).toEqual([deployment]);
    expect(conversion.changes.map(changeText)).toEqual([
      'left Deployment web: spec.template.spec.nodeSelector: karpenter.k8s.aws/instance-family (no node on Azure has this label)',
    ]);
  });

  const attribute = fc.constantFrom(
    'karpenter.k8s.aws/instance-category',
    'karpenter.k8s.aws/instance-family',
    'karpenter.k8s.aws/instance-size',
    'karpenter.k8s.aws/instance-gpu-name',
    'karpenter.k8s.aws/instance-cpu-manufacturer',
    'karpenter.k8s.aws/instance-local-nvme',
    'karpenter.k8s.gcp/instance-family',
    'node.kubernetes.io/instance-type',
    'topology.kubernetes.io/zone',
    'topology.k8s.aws/zone-id',
    'karpenter.sh/capacity-type',
    'kubernetes.io/arch',
  );
  const value = fc.constantFrom(
    'c',
    'm5',
    'm6gd',
    'xlarge',
    'metal',
    't4',
    'aws',
    'm5.large',
    'e2-small',
    'us-east-1b',
    'use1-az9',
    'reserved',
    'spot',
    'arm64',
  );
  const requirement = fc.oneof(
    fc.record({
      key: attribute,
      operator: fc.constantFrom('In', 'NotIn'),
      values: fc.uniqueArray(value, { minLength: 1 }),
      minValues: fc.constantFrom(undefined, 1),
    }),
    fc.record({ key: attribute, operator: fc.constantFrom('Exists', 'DoesNotExist') }),
    fc.record({
      key: fc.constantFrom('karpenter.k8s.aws/instance-cpu', 'karpenter.k8s.aws/instance-memory'),
      operator: fc.constantFrom('Gt', 'Lt'),
      values: fc.nat().map((number) => [String(number)]),
    }),
  );

  it('never names a label of another cloud, and tells of each requirement that is gone', () => {
    fc.assert(
      fc.property(fc.array(requirement, { maxLength: 8 }), (requirements) => {
        const nodeClassRef = { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' };
        const source = {
          apiVersion: 'karpenter.sh/v1',
          kind: 'NodePool',
          metadata: { name: 'any' },
          spec: { template: { spec: { nodeClassRef, requirements } } },
        };
        const { objects, changes } = convertManifests([source], { region: 'eastus' });
        const [pool] = objects as { spec: { template: { spec: { requirements: { key: string }[] } } } }[];
        const keys = pool?.spec.template.spec.requirements.map(({ key }) => key) ?? [];
        expect(keys.filter((key) => /aws|gcp/.test(key))).toEqual([]);
        for (const [at, { key }] of requirements.entries()) {
          const isTold = changes.some(({ field }) => field === `spec.template.spec.requirements[${at}]`);
          expect(isTold || keys.includes(key)).toBe(true);
        }
      }),
    );
  });
});
