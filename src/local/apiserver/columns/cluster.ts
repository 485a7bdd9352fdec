/** Tables of nodes, namespaces, services, volumes, events and the smaller kinds. */
import { at, fieldsAt, listAt, textAt, type ApiObject } from '../fields.ts';
import { age } from '../humanTime.ts';
import type { Column } from '../resource.ts';
import {
  ageColumn,
  boolean,
  count,
  integer,
  labelText,
  nameColumn,
  NONE,
  orNone,
  text,
  UNSET,
  wide,
} from './column.ts';

const ROLE_PREFIX = 'node-role.kubernetes.io/';

function nodeStatus(node: ApiObject): string {
  const ready = listAt(node, 'status', 'conditions').find((entry) => textAt(entry, 'type') === 'Ready');
  const words = [ready === undefined ? 'Unknown' : textAt(ready, 'status') === 'True' ? 'Ready' : 'NotReady'];
  if (at(node, 'spec', 'unschedulable') === true) words.push('SchedulingDisabled');
  return words.join(',');
}

function nodeRoles(node: ApiObject): string {
  const roles = Object.entries(node.metadata.labels ?? {}).flatMap(([key, value]) => {
    if (key.startsWith(ROLE_PREFIX)) return [key.slice(ROLE_PREFIX.length)];
    return key === 'kubernetes.io/role' && value !== '' ? [value] : [];
  });
  return roles.length === 0 ? NONE : roles.sort().join(',');
}

function nodeAddress(node: ApiObject, type: string): string {
  const found = listAt(node, 'status', 'addresses').find((entry) => textAt(entry, 'type') === type);
  return orNone(textAt(found, 'address'));
}

const nodeInfo = (node: ApiObject, field: string): string => {
  const value = textAt(node, 'status', 'nodeInfo', field) ?? '';
  return value === '' ? '<unknown>' : value;
};

export const nodeColumns: readonly Column[] = [
  nameColumn,
  text('Status', nodeStatus),
  text('Roles', nodeRoles),
  ageColumn,
  text('Version', (node) => textAt(node, 'status', 'nodeInfo', 'kubeletVersion') ?? ''),
  wide('Internal-IP', (node) => nodeAddress(node, 'InternalIP')),
  wide('External-IP', (node) => nodeAddress(node, 'ExternalIP')),
  wide('OS-Image', (node) => nodeInfo(node, 'osImage')),
  wide('Kernel-Version', (node) => nodeInfo(node, 'kernelVersion')),
  wide('Container-Runtime', (node) => nodeInfo(node, 'containerRuntimeVersion')),
];

export const namespaceColumns: readonly Column[] = [
  nameColumn,
  text('Status', (object) => textAt(object, 'status', 'phase') ?? ''),
  ageColumn,
];

function externalIp(service: ApiObject): string {
  const type = textAt(service, 'spec', 'type');
  const external = listAt(service, 'spec', 'externalIPs').map(String);
  if (type === 'ExternalName') return textAt(service, 'spec', 'externalName') ?? NONE;
  if (type !== 'LoadBalancer') return external.length === 0 ? NONE : external.join(',');
  const assigned = listAt(service, 'status', 'loadBalancer', 'ingress').map(
    (entry) => textAt(entry, 'ip') ?? textAt(entry, 'hostname') ?? '',
  );
  const all = [...assigned, ...external];
  return all.length === 0 ? '<pending>' : all.join(',');
}

function servicePorts(service: ApiObject): string {
  const ports = listAt(service, 'spec', 'ports').map((port) => {
    const node = at(port, 'nodePort');
    const number = `${String(at(port, 'port'))}${typeof node === 'number' && node > 0 ? `:${node}` : ''}`;
    return `${number}/${textAt(port, 'protocol') ?? 'TCP'}`;
  });
  return ports.length === 0 ? NONE : ports.join(',');
}

export const serviceColumns: readonly Column[] = [
  nameColumn,
  text('Type', (object) => textAt(object, 'spec', 'type') ?? ''),
  text('Cluster-IP', (object) => orNone(textAt(object, 'spec', 'clusterIP'))),
  text('External-IP', externalIp),
  text('Port(s)', servicePorts),
  ageColumn,
  wide('Selector', (object) => labelText(at(object, 'spec', 'selector'))),
];

const MAX_ENDPOINTS = 3;

export const endpointsColumns: readonly Column[] = [
  nameColumn,
  text('Endpoints', (object) => {
    const all = listAt(object, 'subsets').flatMap((subset) =>
      listAt(subset, 'addresses').flatMap((address) => {
        const ports = listAt(subset, 'ports');
        const ip = textAt(address, 'ip') ?? '';
        return ports.length === 0 ? [ip] : ports.map((port) => `${ip}:${String(at(port, 'port'))}`);
      }),
    );
    if (all.length === 0) return NONE;
    const more = all.length > MAX_ENDPOINTS ? ` + ${all.length - MAX_ENDPOINTS} more...` : '';
    return all.slice(0, MAX_ENDPOINTS).join(',') + more;
  }),
  ageColumn,
];

export const endpointSliceColumns: readonly Column[] = [
  nameColumn,
  text('AddressType', (object) => textAt(object, 'addressType') ?? ''),
  text('Ports', (object) => {
    const ports = listAt(object, 'ports').map((port) => String(at(port, 'port') ?? '*'));
    return ports.length === 0 ? UNSET : ports.join(',');
  }),
  text('Endpoints', (object) => {
    const all = listAt(object, 'endpoints').flatMap((endpoint) => listAt(endpoint, 'addresses').map(String));
    if (all.length === 0) return UNSET;
    const more = all.length > MAX_ENDPOINTS ? ` + ${all.length - MAX_ENDPOINTS} more...` : '';
    return all.slice(0, MAX_ENDPOINTS).join(',') + more;
  }),
  ageColumn,
];

export const configMapColumns: readonly Column[] = [
  nameColumn,
  integer(
    'Data',
    (object) =>
      Object.keys(fieldsAt(object, 'data') ?? {}).length + Object.keys(fieldsAt(object, 'binaryData') ?? {}).length,
  ),
  ageColumn,
];

export const secretColumns: readonly Column[] = [
  nameColumn,
  text('Type', (object) => textAt(object, 'type') ?? ''),
  integer('Data', (object) => Object.keys(fieldsAt(object, 'data') ?? {}).length),
  ageColumn,
];

export const serviceAccountColumns: readonly Column[] = [
  nameColumn,
  integer('Secrets', (object) => listAt(object, 'secrets').length),
  ageColumn,
];

function lastSeen(event: ApiObject): unknown {
  return (
    at(event, 'series', 'lastObservedTime') ??
    at(event, 'lastTimestamp') ??
    at(event, 'firstTimestamp') ??
    at(event, 'eventTime')
  );
}

function eventCount(event: ApiObject): number {
  return Math.max(count(event, 'series', 'count'), count(event, 'count'), 1);
}

export const eventColumns: readonly Column[] = [
  text('Last Seen', (event, now) => {
    const seen = age(lastSeen(event), now);
    const times = eventCount(event);
    const first = at(event, 'firstTimestamp') ?? at(event, 'eventTime');
    return times > 1 ? `${seen} (x${times} over ${age(first, now)})` : seen;
  }),
  text('Type', (event) => textAt(event, 'type') ?? ''),
  text('Reason', (event) => textAt(event, 'reason') ?? ''),
  text('Object', (event) => {
    const kind = (textAt(event, 'involvedObject', 'kind') ?? '').toLowerCase();
    return `${kind}/${textAt(event, 'involvedObject', 'name') ?? ''}`;
  }),
  wide('Subobject', (event) => textAt(event, 'involvedObject', 'fieldPath') ?? ''),
  wide('Source', (event) => {
    const component = textAt(event, 'source', 'component') ?? textAt(event, 'reportingComponent') ?? '';
    const host = textAt(event, 'source', 'host') ?? textAt(event, 'reportingInstance') ?? '';
    return host === '' ? component : `${component}, ${host}`;
  }),
  text('Message', (event) => (textAt(event, 'message') ?? '').trim()),
  wide('First Seen', (event, now) => age(at(event, 'firstTimestamp') ?? at(event, 'eventTime'), now)),
  wide('Count', (event) => eventCount(event)),
  { ...nameColumn, priority: 1 },
];

const MODES: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};

const accessModes = (list: readonly unknown[]): string =>
  list.map((mode) => MODES[String(mode)] ?? String(mode)).join(',');
const terminatingOr = (object: ApiObject): string =>
  object.metadata.deletionTimestamp === undefined ? (textAt(object, 'status', 'phase') ?? '') : 'Terminating';

export const volumeColumns: readonly Column[] = [
  nameColumn,
  text('Capacity', (object) => textAt(object, 'spec', 'capacity', 'storage') ?? ''),
  text('Access Modes', (object) => accessModes(listAt(object, 'spec', 'accessModes'))),
  text('Reclaim Policy', (object) => textAt(object, 'spec', 'persistentVolumeReclaimPolicy') ?? ''),
  text('Status', terminatingOr),
  text('Claim', (object) => {
    const claim = fieldsAt(object, 'spec', 'claimRef');
    return claim === undefined ? '' : `${textAt(claim, 'namespace') ?? ''}/${textAt(claim, 'name') ?? ''}`;
  }),
  text('StorageClass', (object) => textAt(object, 'spec', 'storageClassName') ?? ''),
  text('VolumeAttributesClass', (object) => textAt(object, 'spec', 'volumeAttributesClassName') ?? UNSET),
  text('Reason', (object) => textAt(object, 'status', 'reason') ?? ''),
  ageColumn,
  wide('VolumeMode', (object) => textAt(object, 'spec', 'volumeMode') ?? UNSET),
];

export const claimColumns: readonly Column[] = [
  nameColumn,
  text('Status', terminatingOr),
  text('Volume', (object) => textAt(object, 'spec', 'volumeName') ?? ''),
  text('Capacity', (object) => textAt(object, 'status', 'capacity', 'storage') ?? ''),
  text('Access Modes', (object) => accessModes(listAt(object, 'status', 'accessModes'))),
  text('StorageClass', (object) => textAt(object, 'spec', 'storageClassName') ?? ''),
  text('VolumeAttributesClass', (object) => textAt(object, 'spec', 'volumeAttributesClassName') ?? UNSET),
  ageColumn,
  wide('VolumeMode', (object) => textAt(object, 'spec', 'volumeMode') ?? UNSET),
];

export const storageClassColumns: readonly Column[] = [
  {
    ...nameColumn,
    cell: (object) => {
      const isDefault = object.metadata.annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true';
      return isDefault ? `${object.metadata.name} (default)` : object.metadata.name;
    },
  },
  text('Provisioner', (object) => textAt(object, 'provisioner') ?? ''),
  text('ReclaimPolicy', (object) => textAt(object, 'reclaimPolicy') ?? 'Delete'),
  text('VolumeBindingMode', (object) => textAt(object, 'volumeBindingMode') ?? 'Immediate'),
  text('AllowVolumeExpansion', (object) => String(at(object, 'allowVolumeExpansion') === true)),
  ageColumn,
];

export const csiNodeColumns: readonly Column[] = [
  nameColumn,
  integer('Drivers', (object) => listAt(object, 'spec', 'drivers').length),
  ageColumn,
];

export const csiDriverColumns: readonly Column[] = [
  nameColumn,
  boolean('AttachRequired', (object) => at(object, 'spec', 'attachRequired') !== false),
  boolean('PodInfoOnMount', (object) => at(object, 'spec', 'podInfoOnMount') === true),
  boolean('StorageCapacity', (object) => at(object, 'spec', 'storageCapacity') === true),
  text('TokenRequests', (object) => {
    const audiences = listAt(object, 'spec', 'tokenRequests').map((request) => textAt(request, 'audience') ?? '');
    return audiences.length === 0 ? UNSET : audiences.join(',');
  }),
  boolean('RequiresRepublish', (object) => at(object, 'spec', 'requiresRepublish') === true),
  text('Modes', (object) => {
    const modes = listAt(object, 'spec', 'volumeLifecycleModes').map(String);
    return modes.length === 0 ? NONE : modes.join(',');
  }),
  ageColumn,
];

export const volumeAttachmentColumns: readonly Column[] = [
  nameColumn,
  text('Attacher', (object) => textAt(object, 'spec', 'attacher') ?? ''),
  text('PV', (object) => textAt(object, 'spec', 'source', 'persistentVolumeName') ?? ''),
  text('Node', (object) => textAt(object, 'spec', 'nodeName') ?? ''),
  boolean('Attached', (object) => at(object, 'status', 'attached') === true),
  ageColumn,
];

export const priorityClassColumns: readonly Column[] = [
  nameColumn,
  integer('Value', (object) => count(object, 'value')),
  boolean('Global-Default', (object) => at(object, 'globalDefault') === true),
  ageColumn,
  text('PreemptionPolicy', (object) => textAt(object, 'preemptionPolicy') ?? 'PreemptLowerPriority'),
];

export const leaseColumns: readonly Column[] = [
  nameColumn,
  text('Holder', (object) => textAt(object, 'spec', 'holderIdentity') ?? ''),
  ageColumn,
];

export const definitionColumns: readonly Column[] = [
  nameColumn,
  text('Created At', (object) => object.metadata.creationTimestamp ?? ''),
];

const roleRef = text(
  'Role',
  (object) => `${textAt(object, 'roleRef', 'kind') ?? ''}/${textAt(object, 'roleRef', 'name') ?? ''}`,
);

export const roleColumns: readonly Column[] = [
  nameColumn,
  text('Created At', (object) => object.metadata.creationTimestamp ?? ''),
];

const subjects = (kind: string) => (object: ApiObject) =>
  listAt(object, 'subjects')
    .filter((subject) => textAt(subject, 'kind') === kind)
    .map((subject) => {
      const namespace = kind === 'ServiceAccount' ? `${textAt(subject, 'namespace') ?? ''}/` : '';
      return `${namespace}${textAt(subject, 'name') ?? ''}`;
    })
    .join(', ');

export const bindingColumns: readonly Column[] = [
  nameColumn,
  roleRef,
  ageColumn,
  wide('Users', subjects('User')),
  wide('Groups', subjects('Group')),
  wide('ServiceAccounts', subjects('ServiceAccount')),
];

export const webhookColumns: readonly Column[] = [
  nameColumn,
  integer('Webhooks', (object) => listAt(object, 'webhooks').length),
  ageColumn,
];

export const networkPolicyColumns: readonly Column[] = [
  nameColumn,
  text('Pod-Selector', (object) => labelText(at(object, 'spec', 'podSelector', 'matchLabels'))),
  ageColumn,
];

export const ingressColumns: readonly Column[] = [
  nameColumn,
  text('Class', (object) => orNone(textAt(object, 'spec', 'ingressClassName'))),
  text('Hosts', (object) => {
    const hosts = listAt(object, 'spec', 'rules').flatMap((rule) => textAt(rule, 'host') ?? []);
    return hosts.length === 0 ? '*' : hosts.join(',');
  }),
  text('Address', (object) =>
    listAt(object, 'status', 'loadBalancer', 'ingress')
      .map((entry) => textAt(entry, 'ip') ?? textAt(entry, 'hostname') ?? '')
      .join(','),
  ),
  text('Ports', (object) => (listAt(object, 'spec', 'tls').length > 0 ? '80, 443' : '80')),
  ageColumn,
];

export const ingressClassColumns: readonly Column[] = [
  nameColumn,
  text('Controller', (object) => textAt(object, 'spec', 'controller') ?? ''),
  text('Parameters', (object) => {
    const parameters = fieldsAt(object, 'spec', 'parameters');
    return parameters === undefined ? NONE : `${textAt(parameters, 'kind') ?? ''}/${textAt(parameters, 'name') ?? ''}`;
  }),
  ageColumn,
];

export const runtimeClassColumns: readonly Column[] = [
  nameColumn,
  text('Handler', (object) => textAt(object, 'handler') ?? ''),
  ageColumn,
];

const amounts = (limits: unknown, used: unknown): string =>
  Object.entries(fieldsAt(limits) ?? {})
    .map(([name, hard]) => `${name}: ${textAt(used, name) ?? '0'}/${String(hard)}`)
    .join(', ');

export const quotaColumns: readonly Column[] = [
  nameColumn,
  text('Request', (object) =>
    amounts(
      Object.fromEntries(
        Object.entries(fieldsAt(object, 'status', 'hard') ?? fieldsAt(object, 'spec', 'hard') ?? {}).filter(
          ([name]) => !name.startsWith('limits.'),
        ),
      ),
      fieldsAt(object, 'status', 'used'),
    ),
  ),
  text('Limit', (object) =>
    amounts(
      Object.fromEntries(
        Object.entries(fieldsAt(object, 'status', 'hard') ?? fieldsAt(object, 'spec', 'hard') ?? {}).filter(([name]) =>
          name.startsWith('limits.'),
        ),
      ),
      fieldsAt(object, 'status', 'used'),
    ),
  ),
  ageColumn,
];

export const limitRangeColumns: readonly Column[] = [
  nameColumn,
  text('Created At', (object) => object.metadata.creationTimestamp ?? ''),
];
