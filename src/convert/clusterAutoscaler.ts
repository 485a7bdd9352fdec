/** Converts the cluster autoscaler's settings and node pools of an AKS cluster to NodePools and AKSNodeClasses. */
import { CapacityTypes, Groups, Labels } from '../api/labels.ts';
import { isJsonObject, type JsonObject } from '../api/schema/json.ts';
import { parseSizeName } from '../catalogue/sizeName.ts';
import { Duration } from '../units/duration.ts';
import { shown, type Change, type Note } from './change.ts';
import type { Conversion } from './convertManifests.ts';
import { listOf, record, textOf } from './nodePoolConversion.ts';

export interface AutoscalerOptions {
  /** Only pods that tolerate them may use the new nodes while the autoscaler still runs. */
  readonly sideBySide: boolean;
}

/** Taints that keep the pods of both apart while both run. */
const BlockTaints = {
  autoscaler: { key: 'autoscaling.azure.com/cas-block', value: 'true', effect: 'NoSchedule' },
  provisioning: { key: 'autoscaling.azure.com/nap-block', effect: 'NoSchedule' },
} as const;

/** Settings that only make sense for the autoscaler. */
const NO_EQUIVALENT: Readonly<Record<string, string>> = {
  'balance-similar-node-groups': 'pods spread by their own topology spread constraints',
  'daemonset-eviction-for-empty-nodes': 'pods of DaemonSets are not evicted; they end with their node',
  'daemonset-eviction-for-occupied-nodes': 'pods of DaemonSets are not evicted; they end with their node',
  expander: 'the cheapest instance types that run the pods are bought',
  'ignore-daemonsets-utilization': 'consolidation asks where pods fit, not how full a node is',
  'max-node-provision-time': 'a node that does not join within 15 minutes is replaced',
  'new-pod-scale-up-delay': 'pods are planned as soon as they wait; see --batch-idle-duration',
  'scale-down-delay-after-add': 'consolidateAfter counts from the last pod that came or went',
  'scale-down-delay-after-delete': 'budgets say how many nodes go at a time',
  'scale-down-delay-after-failure': 'what failed is tried again by itself',
  'scan-interval': 'pods and nodes are watched, not scanned',
};

/** Output of `az aks show -o json`, or from ARM. */
export function convertAutoscaler(cluster: JsonObject, { sideBySide }: AutoscalerOptions): Conversion {
  const changes: Change[] = [];
  const facts = { ...cluster, ...record(cluster['properties']) };
  const disruption = disruptionOf(profileOf(facts), (change) =>
    changes.push({ object: 'autoScalerProfile', ...change }),
  );
  const objects = listOf(facts['agentPoolProfiles']).flatMap((value) => {
    const pool = { ...record(value), ...record(record(value)['properties']) };
    const note: Note = (change) => changes.push({ object: `agentPool ${textOf(pool['name'])}`, ...change });
    return poolObjects(pool, { ...disruption, location: textOf(facts['location']), sideBySide, note });
  });
  const isClass = (object: JsonObject): boolean => object['kind'] === 'AKSNodeClass';
  return { objects: [...objects.filter(isClass), ...objects.filter((object) => !isClass(object))], changes };
}

/** ARM writes `scan-interval`, the Azure CLI `scanInterval`. */
function profileOf(facts: JsonObject): ReadonlyMap<string, string> {
  const entries = Object.entries(record(facts['autoScalerProfile']));
  return new Map(
    entries
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([key, value]) => [key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`), shown(value)]),
  );
}

interface Disruption {
  readonly disruption: JsonObject;
  readonly terminationGracePeriod: string | undefined;
}

function disruptionOf(profile: ReadonlyMap<string, string>, note: Note): Disruption {
  const field = (name: string): string => profile.get(name) ?? '';
  const unneeded =
    Duration.tryParse(field('scale-down-unneeded-time')) === undefined ? '10m' : field('scale-down-unneeded-time');
  const consolidationPolicy =
    Number(field('scale-down-utilization-threshold') || '0.5') > 0 ? 'WhenEmptyOrUnderutilized' : 'WhenEmpty';
  const grace = Number(field('max-graceful-termination-sec'));
  const unready = Duration.tryParse(field('scale-down-unready-time'));
  const terminationGracePeriod =
    grace > 0 ? `${grace}s` : unready === undefined ? undefined : field('scale-down-unready-time');
  const emptyAtOnce = Number(field('max-empty-bulk-delete'));
  const budgets = [
    { nodes: '10%', reasons: ['Underutilized', 'Drifted'] },
    emptyAtOnce > 0 ? { nodes: String(emptyAtOnce), reasons: ['Empty'] } : { nodes: '10%', reasons: ['Empty'] },
  ];
  const changed = (name: string, to: string, why: string): void => {
    if (profile.has(name)) note({ field: name, outcome: 'changed', from: field(name), to, why });
  };
  changed('scale-down-unneeded-time', `consolidateAfter: ${unneeded}`, 'how long a node rests before it is considered');
  changed(
    'scale-down-utilization-threshold',
    `consolidationPolicy: ${consolidationPolicy}`,
    'nodes go when their pods fit elsewhere for less',
  );
  if (terminationGracePeriod !== undefined) {
    changed(
      'max-graceful-termination-sec',
      `terminationGracePeriod: ${terminationGracePeriod}`,
      'how long a drain may take',
    );
  }
  if (unready !== undefined) {
    const to = `terminationGracePeriod: ${terminationGracePeriod}`;
    changed('scale-down-unready-time', to, 'a node that is not ready is drained for so long; node repair replaces it');
  }
  for (const name of ['ok-total-unready-count', 'max-total-unready-percentage']) {
    changed(name, 'disruption.budgets', 'nodes that are not ready count against budgets');
  }
  changed('max-empty-bulk-delete', 'a budget for the reason Empty', 'how many empty nodes go at a time');
  for (const name of ['skip-nodes-with-local-storage', 'skip-nodes-with-system-pods']) {
    if (!profile.has(name)) continue;
    const why = 'annotate pods that must not move with karpenter.sh/do-not-disrupt';
    note({ field: name, outcome: 'dropped', from: field(name), why });
  }
  for (const [name, why] of Object.entries(NO_EQUIVALENT)) {
    if (profile.has(name)) note({ field: name, outcome: 'dropped', from: field(name), why });
  }
  return { disruption: { consolidationPolicy, consolidateAfter: unneeded, budgets }, terminationGracePeriod };
}

interface PoolContext extends Disruption, AutoscalerOptions {
  readonly location: string;
  readonly note: Note;
}

/** Pools without the autoscaler, and system pools, are left unchanged. */
function poolObjects(pool: JsonObject, context: PoolContext): JsonObject[] {
  const { note } = context;
  if (pool['enableAutoScaling'] !== true) return [];
  if (textOf(pool['mode']).toLowerCase() === 'system') {
    note({
      field: 'mode',
      outcome: 'left',
      from: 'System',
      why: 'a system pool stays, without the cluster autoscaler',
    });
    return [];
  }
  if (textOf(pool['osType']).toLowerCase() === 'windows') {
    note({ field: 'osType', outcome: 'left', from: 'Windows', why: 'nodes run Linux only: keep this pool' });
    return [];
  }
  const name = textOf(pool['name']);
  if (Number(pool['minCount'] ?? 0) > 0) {
    const why = 'there are as many nodes as pods need; keep spare room with a CapacityBuffer';
    note({ field: 'minCount', outcome: 'dropped', from: shown(pool['minCount']), why });
  }
  const nodeClass = {
    apiVersion: `${Groups.azure}/v1beta1`,
    kind: 'AKSNodeClass',
    metadata: { name },
    spec: classSpec(pool),
  };
  noteLost(pool, note);
  return [nodeClass, nodePool(name, pool, context)];
}

function nodePool(name: string, pool: JsonObject, context: PoolContext): JsonObject {
  const { note, location, sideBySide, disruption, terminationGracePeriod } = context;
  const size = parseSizeName(textOf(pool['vmSize']));
  const family = size?.family ?? 'D';
  const isSpot = textOf(pool['scaleSetPriority']).toLowerCase() === 'spot';
  const zones = listOf(pool['availabilityZones']).map((zone) => `${location}-${shown(zone)}`);
  const labels = labelsOf(record(pool['nodeLabels']), note);
  const taints = [
    ...listOf(pool['nodeTaints']).map((taint) => taintOf(textOf(taint))),
    ...(sideBySide ? [BlockTaints.provisioning] : []),
  ];
  const most = Number(pool['maxCount'] ?? 0);
  const limit = size === undefined || most <= 0 ? undefined : most * size.cpus;
  note({
    field: 'vmSize',
    outcome: 'changed',
    from: textOf(pool['vmSize']),
    to: `${Labels.skuFamily} In ${family}${limit === undefined ? '' : `, limits.cpu ${limit}`}`,
    why: 'every size of the family may be bought, up to the vCPUs that the pool could have',
  });
  return {
    apiVersion: `${Groups.karpenter}/v1`,
    kind: 'NodePool',
    metadata: { name },
    spec: {
      ...(limit !== undefined && { limits: { cpu: String(limit) } }),
      disruption,
      template: {
        ...(Object.keys(labels).length > 0 && { metadata: { labels } }),
        spec: {
          nodeClassRef: { group: Groups.azure, kind: 'AKSNodeClass', name },
          requirements: [
            { key: Labels.arch, operator: 'In', values: [size?.features.includes('p') === true ? 'arm64' : 'amd64'] },
            { key: Labels.os, operator: 'In', values: ['linux'] },
            {
              key: Labels.capacityType,
              operator: 'In',
              values: [isSpot ? CapacityTypes.spot : CapacityTypes.onDemand],
            },
            { key: Labels.skuFamily, operator: 'In', values: [family] },
            ...(zones.length > 0 && location !== '' ? [{ key: Labels.zone, operator: 'In', values: zones }] : []),
          ],
          ...(taints.length > 0 && { taints }),
          ...(terminationGracePeriod !== undefined && { terminationGracePeriod }),
        },
      },
    },
  };
}

const OS_SKUS: Readonly<Record<string, string>> = {
  azurelinux: 'AzureLinux',
  ubuntu2204: 'Ubuntu2204',
  ubuntu2404: 'Ubuntu2404',
};

/** ARM writes `osDiskSizeGB` and `vnetSubnetID`, the Azure CLI `osDiskSizeGb` and `vnetSubnetId`. */
function memberOf(pool: JsonObject, name: string): unknown {
  const found = Object.keys(pool).find((key) => key.toLowerCase() === name.toLowerCase());
  return found === undefined ? undefined : pool[found];
}

/** Pool settings that are not converted, reported if they are set. */
const LOST: Readonly<Record<string, string>> = {
  kubeletConfig: 'write it as spec.kubelet of the AKSNodeClass',
  linuxOSConfig: 'write it as spec.linuxOSConfig of the AKSNodeClass',
  podSubnetID: 'pods have addresses of the overlay or of the subnet of their node',
  enableNodePublicIP: 'nodes have no public address',
  enableUltraSSD: `require ${Labels.skuUltraSsd} In true in the NodePool`,
  proximityPlacementGroupID: 'nodes are in no placement group',
  hostGroupID: 'nodes are not on dedicated hosts',
  capacityReservationGroupID: 'reservations are found without it',
  gpuInstanceProfile: 'GPUs are not partitioned',
};

function noteLost(pool: JsonObject, note: Note): void {
  for (const [field, why] of Object.entries(LOST)) {
    const value = memberOf(pool, field);
    if (value === undefined || value === null || value === false || value === '') continue;
    note({ field, outcome: 'dropped', from: shown(value), why });
  }
  const price = Number(pool['spotMaxPrice'] ?? -1);
  if (price > 0) {
    note({ field: 'spotMaxPrice', outcome: 'dropped', from: String(price), why: 'spot nodes cost what Azure asks' });
  }
}

function classSpec(pool: JsonObject): JsonObject {
  const { maxPods, tags } = pool;
  const osDiskSizeGB = memberOf(pool, 'osDiskSizeGB');
  const vnetSubnetID = memberOf(pool, 'vnetSubnetID');
  return {
    imageFamily: OS_SKUS[textOf(memberOf(pool, 'osSKU')).toLowerCase()] ?? 'Ubuntu',
    ...(memberOf(pool, 'enableFIPS') === true && { fipsMode: 'FIPS' }),
    ...(typeof osDiskSizeGB === 'number' && osDiskSizeGB >= 30 && { osDiskSizeGB: Math.min(osDiskSizeGB, 2048) }),
    ...(typeof maxPods === 'number' && maxPods >= 10 && { maxPods: Math.min(maxPods, 250) }),
    ...(typeof vnetSubnetID === 'string' && { vnetSubnetID }),
    ...(pool['enableEncryptionAtHost'] === true && { security: { encryptionAtHost: true } }),
    ...(isJsonObject(tags) && Object.keys(tags).length > 0 && { tags }),
  };
}

/** Labels of AKS itself are set by AKS, or not at all. */
function labelsOf(labels: JsonObject, note: Note): JsonObject {
  const kept = Object.entries(labels).filter(([key, value]) => {
    const isOurs = !key.startsWith(`${Groups.aks}/`);
    if (!isOurs)
      note({ field: `nodeLabels[${key}]`, outcome: 'dropped', from: shown(value), why: 'AKS sets it by itself' });
    return isOurs;
  });
  return Object.fromEntries(kept);
}

/** `key=value:Effect`, `key:Effect`. */
function taintOf(text: string): JsonObject {
  const colon = text.lastIndexOf(':');
  const [key = '', value] = text.slice(0, colon).split('=');
  return { key, ...(value !== undefined && value !== '' && { value }), effect: text.slice(colon + 1) };
}
