import { describe, expect, it } from 'vitest';
import { printYaml } from '../api/yaml/printYaml.ts';
import { readManifests } from '../plan/readManifests.ts';
import { changeText } from './change.ts';
import { convertAutoscaler } from './clusterAutoscaler.ts';

const cluster = {
  location: 'westeurope',
  properties: {
    autoScalerProfile: {
      'balance-similar-node-groups': 'false',
      expander: 'random',
      'max-empty-bulk-delete': '15',
      'max-graceful-termination-sec': '600',
      'scale-down-unneeded-time': '5m',
      'scale-down-utilization-threshold': '0.5',
      'skip-nodes-with-local-storage': 'true',
    },
    agentPoolProfiles: [
      { name: 'system', mode: 'System', enableAutoScaling: true, vmSize: 'Standard_D4s_v5', minCount: 2, maxCount: 4 },
      { name: 'fixed', mode: 'User', enableAutoScaling: false, vmSize: 'Standard_D4s_v5', count: 3 },
      {
        name: 'batch',
        mode: 'User',
        enableAutoScaling: true,
        vmSize: 'Standard_E8ps_v5',
        minCount: 1,
        maxCount: 20,
        scaleSetPriority: 'Spot',
        availabilityZones: ['1', '2'],
        nodeLabels: { team: 'data', 'kubernetes.azure.com/scalesetpriority': 'spot' },
        nodeTaints: ['kubernetes.azure.com/scalesetpriority=spot:NoSchedule', 'batch:NoExecute'],
        osSKU: 'AzureLinux',
        osDiskSizeGB: 256,
        maxPods: 60,
      },
    ],
  },
};

/** As `az aks show` prints it: no `properties`, names in camel case. */
const asAzPrints = {
  location: cluster.location,
  agentPoolProfiles: cluster.properties.agentPoolProfiles.map((pool) =>
    Object.fromEntries(
      Object.entries(pool).map(([key, value]) => [key.replace(/GB$/, 'Gb').replace(/SKU$/, 'Sku'), value]),
    ),
  ),
  autoScalerProfile: Object.fromEntries(
    Object.entries(cluster.properties.autoScalerProfile).map(([key, value]) => [
      key.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  ),
};

describe('convertAutoscaler', () => {
  it('makes a NodePool of each user pool that the autoscaler scales', () => {
    const { objects, changes } = convertAutoscaler(cluster, { sideBySide: false });
    expect(objects.map((object) => `---\n${printYaml(object)}`).join('')).toMatchInlineSnapshot(`
      "---
      apiVersion: karpenter.azure.com/v1beta1
      kind: AKSNodeClass
      metadata:
        name: batch
      spec:
        imageFamily: AzureLinux
        osDiskSizeGB: 256
        maxPods: 60
      ---
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata:
        name: batch
      spec:
        limits:
          cpu: "160"
        disruption:
          consolidationPolicy: WhenEmptyOrUnderutilized
          consolidateAfter: 5m
          budgets:
            - nodes: 10%
              reasons:
                - Underutilized
                - Drifted
            - nodes: "15"
              reasons:
                - Empty
        template:
          metadata:
            labels:
              team: data
          spec:
            nodeClassRef:
              group: karpenter.azure.com
              kind: AKSNodeClass
              name: batch
            requirements:
              - key: kubernetes.io/arch
                operator: In
                values:
                  - arm64
              - key: kubernetes.io/os
                operator: In
                values:
                  - linux
              - key: karpenter.sh/capacity-type
                operator: In
                values:
                  - spot
              - key: karpenter.azure.com/sku-family
                operator: In
                values:
                  - E
              - key: topology.kubernetes.io/zone
                operator: In
                values:
                  - westeurope-1
                  - westeurope-2
            taints:
              - key: kubernetes.azure.com/scalesetpriority
                value: spot
                effect: NoSchedule
              - key: batch
                effect: NoExecute
            terminationGracePeriod: 600s
      "
    `);
    expect(changes.map(changeText)).toMatchInlineSnapshot(`
      [
        "changed autoScalerProfile: scale-down-unneeded-time: 5m → consolidateAfter: 5m (how long a node rests before it is considered)",
        "changed autoScalerProfile: scale-down-utilization-threshold: 0.5 → consolidationPolicy: WhenEmptyOrUnderutilized (nodes go when their pods fit elsewhere for less)",
        "changed autoScalerProfile: max-graceful-termination-sec: 600 → terminationGracePeriod: 600s (how long a drain may take)",
        "changed autoScalerProfile: max-empty-bulk-delete: 15 → a budget for the reason Empty (how many empty nodes go at a time)",
        "dropped autoScalerProfile: skip-nodes-with-local-storage: true (annotate pods that must not move with karpenter.sh/do-not-disrupt)",
        "dropped autoScalerProfile: balance-similar-node-groups: false (pods spread by their own topology spread constraints)",
        "dropped autoScalerProfile: expander: random (the cheapest instance types that run the pods are bought)",
        "left agentPool system: mode: System (a system pool stays, without the cluster autoscaler)",
        "dropped agentPool batch: minCount: 1 (there are as many nodes as pods need; keep spare room with a CapacityBuffer)",
        "dropped agentPool batch: nodeLabels[kubernetes.azure.com/scalesetpriority]: spot (AKS sets it by itself)",
        "changed agentPool batch: vmSize: Standard_E8ps_v5 → karpenter.azure.com/sku-family In E, limits.cpu 160 (every size of the family may be bought, up to the vCPUs that the pool could have)",
      ]
    `);
  });

  it('reads what the Azure CLI prints alike', () => {
    const options = { sideBySide: false };
    expect(convertAutoscaler(asAzPrints, options)).toEqual(convertAutoscaler(cluster, options));
  });

  it('carries over FIPS and lists settings of a pool that have no equivalent', () => {
    const pool = {
      name: 'apps',
      mode: 'User',
      enableAutoScaling: true,
      vmSize: 'Standard_D4s_v5',
      maxCount: 3,
      enableFips: true,
      enableNodePublicIp: true,
      enableUltraSsd: false,
      spotMaxPrice: 0.05,
      kubeletConfig: { cpuManagerPolicy: 'static' },
      linuxOsConfig: null,
    };
    const { objects, changes } = convertAutoscaler({ agentPoolProfiles: [pool] }, { sideBySide: false });
    expect(objects[0]).toMatchObject({ spec: { fipsMode: 'FIPS' } });
    expect(changes.filter(({ outcome }) => outcome !== 'changed').map(changeText)).toEqual([
      'dropped agentPool apps: kubeletConfig: {"cpuManagerPolicy":"static"} (write it as spec.kubelet of the AKSNodeClass)',
      'dropped agentPool apps: enableNodePublicIP: true (nodes have no public address)',
      'dropped agentPool apps: spotMaxPrice: 0.05 (spot nodes cost what Azure asks)',
    ]);
  });

  it('keeps pods off new nodes while both run', () => {
    const { objects } = convertAutoscaler(cluster, { sideBySide: true });
    expect(objects[1]).toMatchObject({
      spec: {
        template: {
          spec: {
            taints: [
              { key: 'kubernetes.azure.com/scalesetpriority' },
              { key: 'batch' },
              { key: 'autoscaling.azure.com/nap-block', effect: 'NoSchedule' },
            ],
          },
        },
      },
    });
  });

  it('gives manifests that are valid', () => {
    for (const sideBySide of [true, false]) {
      const { objects } = convertAutoscaler(cluster, { sideBySide });
      const text = objects.map((object) => `---\n${printYaml(object)}`).join('');
      expect(readManifests([{ source: 'converted', text }]).mistakes).toEqual([]);
    }
  });

  it('takes settings of unready nodes for the grace period and the budgets', () => {
    const converted = (autoScalerProfile: object) => {
      const { objects, changes } = convertAutoscaler(
        { ...cluster, properties: { ...cluster.properties, autoScalerProfile } },
        { sideBySide: false },
      );
      const pool = objects.find(({ kind }) => kind === 'NodePool') as { spec: { template: { spec: object } } };
      return { spec: pool.spec.template.spec, said: changes.map(changeText) };
    };
    const unready = { 'scale-down-unready-time': '20m', 'max-total-unready-percentage': '45' };
    const alone = converted(unready);
    expect(alone.spec).toMatchObject({ terminationGracePeriod: '20m' });
    expect(alone.said).toEqual(
      expect.arrayContaining([
        expect.stringContaining('scale-down-unready-time: 20m → terminationGracePeriod: 20m'),
        expect.stringContaining('max-total-unready-percentage: 45 → disruption.budgets'),
      ]),
    );
    const both = converted({ ...unready, 'max-graceful-termination-sec': '600' });
    expect(both.spec).toMatchObject({ terminationGracePeriod: '600s' });
  });
});
