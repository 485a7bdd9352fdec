/** Tables of volumes, claims, classes and drivers. */
import { at, fieldsAt, listAt, textAt, type ApiObject } from '../fields.ts';
import { AGE, figure, flag, integer, joined, NAME, NONE, text, UNSET, wide, type Tables } from './column.ts';

const MODES = new Map([
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
]);
const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';

const accessModes = (list: readonly unknown[]): string =>
  list.map((mode) => MODES.get(String(mode)) ?? String(mode)).join(',');
const phase = (object: ApiObject): string =>
  object.metadata.deletionTimestamp === undefined ? (textAt(object, 'status', 'phase') ?? '') : 'Terminating';
const isBound = (claim: ApiObject): boolean => (textAt(claim, 'spec', 'volumeName') ?? '') !== '';

const CLASS = text('StorageClass', 'spec.storageClassName');
const ATTRIBUTES = text('VolumeAttributesClass', 'spec.volumeAttributesClassName', UNSET);
const MODE = wide('VolumeMode', 'spec.volumeMode', UNSET);

const className = ({ metadata }: ApiObject): string =>
  metadata.annotations?.[DEFAULT_CLASS] === 'true' ? `${metadata.name} (default)` : metadata.name;

function volumeClaim(volume: ApiObject): string {
  const claim = fieldsAt(volume, 'spec', 'claimRef');
  return claim === undefined ? '' : joined(claim, 'namespace', 'name');
}

function audiences(driver: ApiObject): string {
  const all = listAt(driver, 'spec', 'tokenRequests').map((request) => textAt(request, 'audience') ?? '');
  return all.length === 0 ? UNSET : all.join(',');
}

function lifecycleModes(driver: ApiObject): string {
  const modes = listAt(driver, 'spec', 'volumeLifecycleModes').map(String);
  return modes.length === 0 ? NONE : modes.join(',');
}

export const storageColumns: Tables = {
  PersistentVolume: [
    NAME,
    text('Capacity', 'spec.capacity.storage'),
    text('Access Modes', (object) => accessModes(listAt(object, 'spec', 'accessModes'))),
    text('Reclaim Policy', 'spec.persistentVolumeReclaimPolicy'),
    text('Status', phase),
    text('Claim', volumeClaim),
    CLASS,
    ATTRIBUTES,
    text('Reason', 'status.reason'),
    AGE,
    MODE,
  ],
  PersistentVolumeClaim: [
    NAME,
    text('Status', phase),
    text('Volume', 'spec.volumeName'),
    text('Capacity', (object) => (isBound(object) ? (textAt(object, 'status', 'capacity', 'storage') ?? '') : '')),
    text('Access Modes', (object) => (isBound(object) ? accessModes(listAt(object, 'status', 'accessModes')) : '')),
    CLASS,
    ATTRIBUTES,
    AGE,
    MODE,
  ],
  StorageClass: [
    { ...NAME, cell: className },
    text('Provisioner', 'provisioner'),
    text('ReclaimPolicy', 'reclaimPolicy', 'Delete'),
    text('VolumeBindingMode', 'volumeBindingMode', 'Immediate'),
    figure('AllowVolumeExpansion', (object) => at(object, 'allowVolumeExpansion') === true),
    AGE,
  ],
  CSINode: [NAME, integer('Drivers', (object) => listAt(object, 'spec', 'drivers').length), AGE],
  CSIDriver: [
    NAME,
    flag('AttachRequired', 'spec.attachRequired', true),
    flag('PodInfoOnMount', 'spec.podInfoOnMount'),
    flag('StorageCapacity', 'spec.storageCapacity'),
    text('TokenRequests', audiences),
    flag('RequiresRepublish', 'spec.requiresRepublish'),
    text('Modes', lifecycleModes),
    AGE,
  ],
  VolumeAttachment: [
    NAME,
    { ...text('Attacher', 'spec.attacher'), format: 'name' },
    text('PV', 'spec.source.persistentVolumeName'),
    text('Node', 'spec.nodeName'),
    flag('Attached', 'status.attached'),
    AGE,
  ],
  CSIStorageCapacity: [NAME, text('StorageClassName', 'storageClassName'), text('Capacity', 'capacity', UNSET)],
  VolumeAttributesClass: [NAME, text('DriverName', 'driverName'), AGE],
};
