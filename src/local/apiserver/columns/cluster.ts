/** Table cells of nodes, events, storage and other kinds, and the columns of scales. */
import { at, fieldsAt, listAt, textAt, type ApiObject } from '../fields.ts';
import { age } from '../humanTime.ts';
import type { Column } from '../resource.ts';
import { columnOf, conditionOf, count, joined, NONE, orNone, UNSET, type Cells } from './column.ts';

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

function nodeInfo(node: ApiObject, field: string): string {
  const value = textAt(node, 'status', 'nodeInfo', field) ?? '';
  return value === '' ? '<unknown>' : value;
}

function lastSeen(event: ApiObject): unknown {
  const last = event['lastTimestamp'] ?? event['deprecatedLastTimestamp'];
  const first = event['firstTimestamp'] ?? event['deprecatedFirstTimestamp'];
  return at(event, 'series', 'lastObservedTime') ?? last ?? first ?? event['eventTime'];
}

/** Returns the source of an event. Fields of core and `events.k8s.io` events differ: `source` names the older field. */
function eventSource(event: ApiObject, source: string, component: string): string {
  const pick = (old: string, current: string): string => {
    const found = textAt(event, source, old) ?? '';
    return found === '' ? (textAt(event, current) ?? '') : found;
  };
  const host = pick('host', 'reportingInstance');
  return `${pick('component', component)}${host === '' ? '' : `, ${host}`}`;
}

function claimState(claim: ApiObject): string {
  const state = fieldsAt(claim, 'status', 'allocation') === undefined ? 'pending' : 'allocated';
  const reserved = state === 'allocated' && listAt(claim, 'status', 'reservedFor').length > 0 ? ',reserved' : '';
  return `${claim.metadata.deletionTimestamp === undefined ? '' : 'deleted,'}${state}${reserved}`;
}

export const clusterCells: Cells = {
  nodeStatus,
  nodeRoles,
  nodeAddress: (node, _now, type) => {
    const found = listAt(node, 'status', 'addresses').find((entry) => textAt(entry, 'type') === type);
    return orNone(textAt(found, 'address'));
  },
  nodeInfo: (node, _now, field = '') => nodeInfo(node, field),
  kernel: (node) => {
    const architecture = textAt(node, 'status', 'nodeInfo', 'architecture') ?? '';
    return `${nodeInfo(node, 'kernelVersion')}${architecture === '' ? '' : ` (${architecture})`}`;
  },
  lastSeen: (event, now) => age(lastSeen(event), now),
  firstSeen: (event, now, first = '') => age(at(event, first) ?? at(event, 'eventTime'), now),
  eventObject: (event, _now, object = '') => {
    const kind = (textAt(event, object, 'kind') ?? '').toLowerCase();
    const name = textAt(event, object, 'name') ?? '';
    return name === '' ? kind : `${kind}/${name}`;
  },
  eventSource: (event, _now, source = '', component = '') => eventSource(event, source, component),
  eventCount: (event) =>
    Math.max(count(event, 'series', 'count'), count(event, 'count'), count(event, 'deprecatedCount'), 1),
  subjects: (binding, _now, kind) =>
    listAt(binding, 'subjects')
      .filter((subject) => textAt(subject, 'kind') === kind)
      .map((one) => (kind === 'ServiceAccount' ? joined(one, 'namespace', 'name') : (textAt(one, 'name') ?? '')))
      .join(', '),
  amounts: (quota, _now, which) =>
    Object.entries(fieldsAt(quota, 'status', 'hard') ?? fieldsAt(quota, 'spec', 'hard') ?? {})
      .filter(([name]) => name.startsWith('limits.') === (which === 'limits'))
      .map(([name, hard]) => `${name}: ${textAt(quota, 'status', 'used', name) ?? '0'}/${String(hard)}`)
      .join(', '),
  claimState,
  apiService: (object) => {
    const found = fieldsAt(object, 'spec', 'service');
    return found === undefined ? 'Local' : joined(found, 'namespace', 'name');
  },
  available: (object) => {
    const found = conditionOf(object, 'Available');
    const status = textAt(found, 'status') ?? 'Unknown';
    const reason = textAt(found, 'reason') ?? '';
    return status === 'True' || reason === '' ? status : `${status} (${reason})`;
  },
};

export const scaleColumns: readonly Column[] = [
  'Name',
  ['Desired', 'integer', 'spec.replicas'],
  ['Available', 'integer', 'status.replicas'],
  'Age',
].map((row) => columnOf(row, {}));

const MODES = new Map([
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
]);
const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';

const accessModes = (list: readonly unknown[]): string =>
  list.map((mode) => MODES.get(String(mode)) ?? String(mode)).join(',');
const isBound = (claim: ApiObject): boolean => (textAt(claim, 'spec', 'volumeName') ?? '') !== '';

export const storageCells: Cells = {
  accessModes: (volume) => accessModes(listAt(volume, 'spec', 'accessModes')),
  volumePhase: (object) =>
    object.metadata.deletionTimestamp === undefined ? (textAt(object, 'status', 'phase') ?? '') : 'Terminating',
  volumeClaim: (volume) => {
    const claim = fieldsAt(volume, 'spec', 'claimRef');
    return claim === undefined ? '' : joined(claim, 'namespace', 'name');
  },
  boundCapacity: (claim) => (isBound(claim) ? (textAt(claim, 'status', 'capacity', 'storage') ?? '') : ''),
  boundModes: (claim) => (isBound(claim) ? accessModes(listAt(claim, 'status', 'accessModes')) : ''),
  className: ({ metadata }) =>
    metadata.annotations?.[DEFAULT_CLASS] === 'true' ? `${metadata.name} (default)` : metadata.name,
  expandable: (object) => at(object, 'allowVolumeExpansion') === true,
  audiences: (driver) => {
    const all = listAt(driver, 'spec', 'tokenRequests').map((request) => textAt(request, 'audience') ?? '');
    return all.length === 0 ? UNSET : all.join(',');
  },
  lifecycleModes: (driver) => {
    const modes = listAt(driver, 'spec', 'volumeLifecycleModes').map(String);
    return modes.length === 0 ? NONE : modes.join(',');
  },
};
