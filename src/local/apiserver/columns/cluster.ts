/** Tables of nodes, namespaces, events and the smaller kinds. */
import { at, fieldsAt, listAt, textAt, type ApiObject } from '../fields.ts';
import { age } from '../humanTime.ts';
import type { Column } from '../resource.ts';
import {
  ageColumn,
  boolean,
  count,
  createdColumn,
  figure,
  integer,
  nameColumn,
  NONE,
  orNone,
  text,
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
  wide('Kernel-Version', (node) => {
    const architecture = textAt(node, 'status', 'nodeInfo', 'architecture') ?? '';
    return `${nodeInfo(node, 'kernelVersion')}${architecture === '' ? '' : ` (${architecture})`}`;
  }),
  wide('Container-Runtime', (node) => nodeInfo(node, 'containerRuntimeVersion')),
];

export const namespaceColumns: readonly Column[] = [
  nameColumn,
  text('Status', (object) => textAt(object, 'status', 'phase') ?? ''),
  ageColumn,
];

export const configMapColumns: readonly Column[] = [
  nameColumn,
  figure(
    'Data',
    (object) =>
      Object.keys(fieldsAt(object, 'data') ?? {}).length + Object.keys(fieldsAt(object, 'binaryData') ?? {}).length,
  ),
  ageColumn,
];

export const secretColumns: readonly Column[] = [
  nameColumn,
  text('Type', (object) => textAt(object, 'type') ?? ''),
  figure('Data', (object) => Object.keys(fieldsAt(object, 'data') ?? {}).length),
  ageColumn,
];

export const serviceAccountColumns: readonly Column[] = [nameColumn, ageColumn];

function lastSeen(event: ApiObject): unknown {
  return (
    at(event, 'series', 'lastObservedTime') ??
    at(event, 'lastTimestamp') ??
    at(event, 'deprecatedLastTimestamp') ??
    at(event, 'firstTimestamp') ??
    at(event, 'deprecatedFirstTimestamp') ??
    at(event, 'eventTime')
  );
}

function eventCount(event: ApiObject): number {
  return Math.max(count(event, 'series', 'count'), count(event, 'count'), count(event, 'deprecatedCount'), 1);
}

/** Core events and `events.k8s.io` name the same things differently. */
const eventTable = (names: {
  readonly object: string;
  readonly message: string;
  readonly source: string;
  readonly component: string;
  readonly first: string;
}): readonly Column[] => [
  text('Last Seen', (event, now) => age(lastSeen(event), now)),
  text('Type', (event) => textAt(event, 'type') ?? ''),
  text('Reason', (event) => textAt(event, 'reason') ?? ''),
  text('Object', (event) => {
    const kind = (textAt(event, names.object, 'kind') ?? '').toLowerCase();
    const name = textAt(event, names.object, 'name') ?? '';
    return name === '' ? kind : `${kind}/${name}`;
  }),
  wide('Subobject', (event) => textAt(event, names.object, 'fieldPath') ?? ''),
  wide('Source', (event) => {
    const pick = (old: string, current: string): string => {
      const found = textAt(event, names.source, old) ?? '';
      return found === '' ? (textAt(event, current) ?? '') : found;
    };
    const component = pick('component', names.component);
    const host = pick('host', 'reportingInstance');
    return host === '' ? component : `${component}, ${host}`;
  }),
  text('Message', (event) => (textAt(event, names.message) ?? '').trim()),
  wide('First Seen', (event, now) => age(at(event, names.first) ?? at(event, 'eventTime'), now)),
  { ...figure('Count', eventCount), priority: 1 },
  { ...nameColumn, priority: 1 },
];

export const eventColumns = eventTable({
  object: 'involvedObject',
  message: 'message',
  source: 'source',
  component: 'reportingComponent',
  first: 'firstTimestamp',
});

export const newEventColumns = eventTable({
  object: 'regarding',
  message: 'note',
  source: 'deprecatedSource',
  component: 'reportingController',
  first: 'deprecatedFirstTimestamp',
});

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

export const definitionColumns: readonly Column[] = [nameColumn, createdColumn];

const roleRef = text(
  'Role',
  (object) => `${textAt(object, 'roleRef', 'kind') ?? ''}/${textAt(object, 'roleRef', 'name') ?? ''}`,
);

export const roleColumns: readonly Column[] = [nameColumn, createdColumn];

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

export const limitRangeColumns: readonly Column[] = [nameColumn, createdColumn];

export const resourceClaimColumns: readonly Column[] = [
  nameColumn,
  text('State', (claim) => {
    const states: string[] = [];
    if (claim.metadata.deletionTimestamp !== undefined) states.push('deleted');
    const reserved = listAt(claim, 'status', 'reservedFor').length > 0;
    if (fieldsAt(claim, 'status', 'allocation') === undefined) states.push('pending');
    else states.push(reserved ? 'allocated,reserved' : 'allocated');
    return states.join(',');
  }),
  ageColumn,
];

export const componentColumns: readonly Column[] = [
  nameColumn,
  text('Status', () => 'Unknown'),
  text('Message', () => ''),
  text('Error', () => ''),
];
