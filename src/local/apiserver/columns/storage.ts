/** Cells of volumes, claims, classes and drivers. */
import { at, fieldsAt, listAt, textAt, type ApiObject } from '../fields.ts';
import { joined, NONE, UNSET, type Cells } from './column.ts';

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
