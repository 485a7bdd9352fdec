/** Tables of nodes, namespaces, events and the smaller kinds. */
import { at, fieldsAt, listAt, textAt, type ApiObject } from '../fields.ts';
import { age } from '../humanTime.ts';
import type { Column } from '../resource.ts';
import {
  AGE,
  conditionOf,
  count,
  createdColumns,
  figure,
  flag,
  integer,
  joined,
  NAME,
  NONE,
  orNone,
  text,
  wide,
  type Tables,
} from './column.ts';

const ROLE_PREFIX = 'node-role.kubernetes.io/';

function nodeStatus(node: ApiObject): string {
  const ready = conditionOf(node, 'Ready');
  const status = ready === undefined ? 'Unknown' : textAt(ready, 'status') === 'True' ? 'Ready' : 'NotReady';
  return at(node, 'spec', 'unschedulable') === true ? `${status},SchedulingDisabled` : status;
}

function nodeRoles(node: ApiObject): string {
  const roles = Object.entries(node.metadata.labels ?? {}).flatMap(([key, value]) => {
    if (key.startsWith(ROLE_PREFIX)) return [key.slice(ROLE_PREFIX.length)];
    return key === 'kubernetes.io/role' && value !== '' ? [value] : [];
  });
  return roles.length === 0 ? NONE : roles.sort().join(',');
}

const address = (type: string) => (node: ApiObject) =>
  orNone(
    textAt(
      listAt(node, 'status', 'addresses').find((entry) => textAt(entry, 'type') === type),
      'address',
    ),
  );

const nodeInfo = (field: string) => (node: ApiObject) => {
  const value = textAt(node, 'status', 'nodeInfo', field) ?? '';
  return value === '' ? '<unknown>' : value;
};

function kernel(node: ApiObject): string {
  const architecture = textAt(node, 'status', 'nodeInfo', 'architecture') ?? '';
  return `${nodeInfo('kernelVersion')(node)}${architecture === '' ? '' : ` (${architecture})`}`;
}

const sizeOf = (object: ApiObject, field: string): number => Object.keys(fieldsAt(object, field) ?? {}).length;

function lastSeen(event: ApiObject): unknown {
  const last = event['lastTimestamp'] ?? event['deprecatedLastTimestamp'];
  const first = event['firstTimestamp'] ?? event['deprecatedFirstTimestamp'];
  return at(event, 'series', 'lastObservedTime') ?? last ?? first ?? event['eventTime'];
}

function eventCount(event: ApiObject): number {
  return Math.max(count(event, 'series', 'count'), count(event, 'count'), count(event, 'deprecatedCount'), 1);
}

/** Core events and `events.k8s.io` name the same things differently. */
function eventTable(object: string, message: string, source: string, component: string, first: string): Column[] {
  const pick = (event: ApiObject, old: string, current: string): string => {
    const found = textAt(event, source, old) ?? '';
    return found === '' ? (textAt(event, current) ?? '') : found;
  };
  return [
    text('Last Seen', (event, now) => age(lastSeen(event), now)),
    text('Type', 'type'),
    text('Reason', 'reason'),
    text('Object', (event) => {
      const kind = (textAt(event, object, 'kind') ?? '').toLowerCase();
      const name = textAt(event, object, 'name') ?? '';
      return name === '' ? kind : `${kind}/${name}`;
    }),
    wide('Subobject', `${object}.fieldPath`),
    wide('Source', (event) => {
      const host = pick(event, 'host', 'reportingInstance');
      return `${pick(event, 'component', component)}${host === '' ? '' : `, ${host}`}`;
    }),
    text('Message', (event) => (textAt(event, message) ?? '').trim()),
    wide('First Seen', (event, now) => age(at(event, first) ?? at(event, 'eventTime'), now)),
    { ...figure('Count', eventCount), priority: 1 },
    { ...NAME, priority: 1 },
  ];
}

const subjects = (kind: string) => (object: ApiObject) =>
  listAt(object, 'subjects')
    .filter((subject) => textAt(subject, 'kind') === kind)
    .map((one) => (kind === 'ServiceAccount' ? joined(one, 'namespace', 'name') : (textAt(one, 'name') ?? '')))
    .join(', ');

const bindingColumns: readonly Column[] = [
  NAME,
  text('Role', (object) => joined(object['roleRef'], 'kind', 'name')),
  AGE,
  wide('Users', subjects('User')),
  wide('Groups', subjects('Group')),
  wide('ServiceAccounts', subjects('ServiceAccount')),
];

const webhookColumns = [NAME, integer('Webhooks', (object) => listAt(object, 'webhooks').length), AGE];

const amounts = (ofLimits: boolean) => (quota: ApiObject) =>
  Object.entries(fieldsAt(quota, 'status', 'hard') ?? fieldsAt(quota, 'spec', 'hard') ?? {})
    .filter(([name]) => name.startsWith('limits.') === ofLimits)
    .map(([name, hard]) => `${name}: ${textAt(quota, 'status', 'used', name) ?? '0'}/${String(hard)}`)
    .join(', ');

function claimState(claim: ApiObject): string {
  const state = fieldsAt(claim, 'status', 'allocation') === undefined ? 'pending' : 'allocated';
  const reserved = state === 'allocated' && listAt(claim, 'status', 'reservedFor').length > 0 ? ',reserved' : '';
  return `${claim.metadata.deletionTimestamp === undefined ? '' : 'deleted,'}${state}${reserved}`;
}

export const newEventColumns = eventTable(
  'regarding',
  'note',
  'deprecatedSource',
  'reportingController',
  'deprecatedFirstTimestamp',
);

export const clusterColumns: Tables = {
  Node: [
    NAME,
    text('Status', nodeStatus),
    text('Roles', nodeRoles),
    AGE,
    text('Version', 'status.nodeInfo.kubeletVersion'),
    wide('Internal-IP', address('InternalIP')),
    wide('External-IP', address('ExternalIP')),
    wide('OS-Image', nodeInfo('osImage')),
    wide('Kernel-Version', kernel),
    wide('Container-Runtime', nodeInfo('containerRuntimeVersion')),
  ],
  Namespace: [NAME, text('Status', 'status.phase'), AGE],
  ConfigMap: [NAME, figure('Data', (object) => sizeOf(object, 'data') + sizeOf(object, 'binaryData')), AGE],
  Secret: [NAME, text('Type', 'type'), figure('Data', (object) => sizeOf(object, 'data')), AGE],
  Event: eventTable('involvedObject', 'message', 'source', 'reportingComponent', 'firstTimestamp'),
  PriorityClass: [
    NAME,
    integer('Value', 'value'),
    flag('Global-Default', 'globalDefault'),
    AGE,
    text('PreemptionPolicy', 'preemptionPolicy', 'PreemptLowerPriority'),
  ],
  Lease: [NAME, text('Holder', 'spec.holderIdentity'), AGE],
  CustomResourceDefinition: createdColumns,
  Role: createdColumns,
  ClusterRole: createdColumns,
  RoleBinding: bindingColumns,
  ClusterRoleBinding: bindingColumns,
  MutatingWebhookConfiguration: webhookColumns,
  ValidatingWebhookConfiguration: webhookColumns,
  RuntimeClass: [NAME, text('Handler', 'handler'), AGE],
  ResourceQuota: [NAME, text('Request', amounts(false)), text('Limit', amounts(true)), AGE],
  LimitRange: createdColumns,
  ResourceClaim: [NAME, text('State', claimState), AGE],
  ComponentStatus: [NAME, text('Status', () => 'Unknown'), text('Message', () => ''), text('Error', () => '')],
};
