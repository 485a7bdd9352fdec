/** Converts node classes of other clouds to AKSNodeClasses. */
import { Annotations } from '../api/labels.ts';
import { isJsonObject, type JsonObject } from '../api/schema/json.ts';
import { Quantity } from '../units/quantity.ts';
import { shown, type Note } from './change.ts';
import { listOf, metadataOf, only, present, record, textOf } from './nodePoolConversion.ts';

const GIB = 2 ** 30;
const DISK_GB = { least: 30, most: 2048 };
const PODS = { least: 10, most: 250 };

/** Fields of other clouds' classes without an equivalent, and the reason. */
const NO_EQUIVALENT: Readonly<Record<string, string>> = {
  subnetSelectorTerms: "nodes join the cluster's subnet; set vnetSubnetID for another one",
  subnetSelector: "nodes join the cluster's subnet; set vnetSubnetID for another one",
  securityGroupSelectorTerms: 'AKS gives nodes the network security group of the cluster',
  securityGroupSelector: 'AKS gives nodes the network security group of the cluster',
  role: "nodes have the cluster's kubelet identity",
  instanceProfile: "nodes have the cluster's kubelet identity",
  serviceAccount: "nodes have the cluster's kubelet identity",
  userData: 'AKS boots its nodes itself; use linuxOSConfig, kubelet or a DaemonSet',
  metadataOptions: "the metadata service is Azure's",
  detailedMonitoring: 'metrics of instances are part of Azure Monitor',
  associatePublicIPAddress: 'nodes have no public address',
  capacityReservationSelectorTerms: 'capacity reservations are found by themselves',
  instanceStorePolicy: 'the system disk lies on local storage where that has room',
  context: 'Azure has no such field',
};
const UNKNOWN = 'Azure has no such field';

/** Fields that were converted, or that repeat another field. */
const READ: ReadonlySet<string> = new Set([
  'amiFamily',
  'amiSelectorTerms',
  'amiSelector',
  'tags',
  'blockDeviceMappings',
  'kubelet',
]);

const IMAGE_FAMILIES: readonly (readonly [pattern: RegExp, family: string])[] = [
  [/^ubuntu/i, 'Ubuntu'],
  [/^(al2|al2023|bottlerocket|containeroptimizedos|cos)/i, 'AzureLinux'],
];

export function convertNodeClass(source: JsonObject, kubelets: readonly JsonObject[], note: Note): JsonObject {
  const spec = record(source['spec']);
  for (const [field, value] of Object.entries(spec)) {
    if (READ.has(field)) continue;
    note({ field: `spec.${field}`, outcome: 'dropped', from: shown(value), why: NO_EQUIVALENT[field] ?? UNKNOWN });
  }
  // Settings of the class override those in pools of the older API.
  const kubelet = Object.assign({}, ...kubelets, record(spec['kubelet'])) as JsonObject;
  return {
    apiVersion: 'karpenter.azure.com/v1beta1',
    kind: 'AKSNodeClass',
    metadata: metadataOf(source),
    spec: {
      imageFamily: imageFamilyOf(spec, note),
      ...diskOf(spec, note),
      ...kubeletOf(kubelet, note),
      ...present({ tags: tagsOf(record(spec['tags']), note) }),
    },
  };
}

function imageFamilyOf(spec: JsonObject, note: Note): string {
  const terms = listOf(spec['amiSelectorTerms']).map(record);
  const alias = terms.map((term) => textOf(term['alias'])).find((text) => text !== '') ?? '';
  const [name = '', version = 'latest'] = (alias || textOf(spec['amiFamily'])).split('@');
  const field = alias === '' ? 'spec.amiFamily' : 'spec.amiSelectorTerms';
  const family = IMAGE_FAMILIES.find(([pattern]) => pattern.test(name))?.[1];
  const own = terms.filter((term) => textOf(term['alias']) === '');
  if (own.length > 0 || spec['amiSelector'] !== undefined || name === 'Custom') {
    note({
      field: 'spec.amiSelectorTerms',
      outcome: 'dropped',
      from: shown(own),
      why: 'nodes boot images of AKS only',
    });
  }
  if (version !== 'latest') {
    const why = `images of AKS have other versions; pin one with the annotation ${Annotations.imageVersion}`;
    note({ field, outcome: 'dropped', from: `version ${version}`, why });
  }
  if (/^windows/i.test(name)) note({ field, outcome: 'dropped', from: name, why: 'nodes run Linux only' });
  else if (family !== undefined && family.toLowerCase() !== name.toLowerCase()) {
    note({ field, outcome: 'changed', from: name, to: `imageFamily ${family}`, why: 'the nearest that AKS has' });
  }
  return family ?? 'Ubuntu';
}

/** The root device, or else the first one, is the system disk. */
function diskOf(spec: JsonObject, note: Note): JsonObject {
  const devices = listOf(spec['blockDeviceMappings']).map(record);
  const root = devices.find((device) => device['rootVolume'] === true) ?? devices[0];
  if (root === undefined) return {};
  const field = 'spec.blockDeviceMappings';
  const others = devices.filter((device) => device !== root);
  if (others.length > 0) {
    note({ field, outcome: 'dropped', from: `${others.length} more`, why: 'nodes have a system disk only' });
  }
  const ebs = record(root['ebs']);
  for (const name of ['volumeType', 'iops', 'throughput', 'snapshotID', 'kmsKeyID']) {
    if (ebs[name] === undefined) continue;
    const why =
      name === 'kmsKeyID'
        ? 'keys of your own are set with --node-osdisk-diskencryptionset-id'
        : 'Azure sizes system disks by their capacity alone';
    note({ field: `${field}.ebs.${name}`, outcome: 'dropped', from: shown(ebs[name]), why });
  }
  const wanted = gigabytes(ebs['volumeSize']);
  if (wanted === undefined) return {};
  const osDiskSizeGB = Math.min(DISK_GB.most, Math.max(DISK_GB.least, wanted));
  if (osDiskSizeGB !== wanted) {
    const why = `system disks have from ${DISK_GB.least} to ${DISK_GB.most} GB`;
    note({ field: `${field}.ebs.volumeSize`, outcome: 'changed', from: `${wanted} GB`, to: `${osDiskSizeGB} GB`, why });
  }
  return { osDiskSizeGB };
}

function gigabytes(value: unknown): number | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const bytes = Quantity.tryParse(value)?.value();
  return bytes === undefined ? undefined : Math.ceil(bytes / GIB);
}

const SAME_KUBELET_FIELDS = [
  'cpuCFSQuota',
  'imageGCHighThresholdPercent',
  'imageGCLowThresholdPercent',
  'podPidsLimit',
];

function kubeletOf(kubelet: JsonObject, note: Note): JsonObject {
  const { maxPods } = kubelet;
  for (const [name, value] of Object.entries(kubelet)) {
    if (name === 'maxPods' || SAME_KUBELET_FIELDS.includes(name)) continue;
    const why = name === 'clusterDNS' ? "nodes use the cluster's own DNS service" : 'AKS sets it by itself';
    note({ field: `kubelet.${name}`, outcome: 'dropped', from: shown(value), why });
  }
  const pods = typeof maxPods === 'number' ? Math.min(PODS.most, Math.max(PODS.least, maxPods)) : undefined;
  if (pods !== undefined && pods !== maxPods) {
    const why = `nodes of AKS run from ${PODS.least} to ${PODS.most} pods`;
    note({ field: 'kubelet.maxPods', outcome: 'changed', from: shown(maxPods), to: String(pods), why });
  }
  return {
    ...(pods !== undefined && { maxPods: pods }),
    ...present({ kubelet: only(kubelet, SAME_KUBELET_FIELDS) }),
  };
}

const TAG = { key: 512, value: 256, forbidden: /[<>%&?\\]/ };
/** Tags used by another cloud or its tools. */
const FOREIGN_TAG = /^(aws:|eks:|kubernetes\.io\/cluster\/|karpenter\.sh\/|karpenter\.k8s\.aws\/)/;

function tagsOf(tags: JsonObject, note: Note): JsonObject {
  const kept = Object.entries(tags).filter(([key, value]) => {
    const text = textOf(value);
    const isValid = key.length <= TAG.key && text.length <= TAG.value && !TAG.forbidden.test(key);
    const why = FOREIGN_TAG.test(key) ? 'only the other cloud reads it' : 'Azure does not allow such a tag';
    const isKept = isValid && !isJsonObject(value) && !FOREIGN_TAG.test(key);
    if (!isKept) note({ field: `spec.tags[${key}]`, outcome: 'dropped', from: shown(value), why });
    return isKept;
  });
  return Object.fromEntries(kept.map(([key, value]) => [key, textOf(value)]));
}
