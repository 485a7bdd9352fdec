/** Tables of volumes, claims, classes and drivers. */
import { at, fieldsAt, listAt, textAt, type ApiObject } from '../fields.ts';
import type { Column } from '../resource.ts';
import { ageColumn, boolean, figure, integer, nameColumn, NONE, text, UNSET, wide } from './column.ts';

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

const isBound = (claim: ApiObject): boolean => (textAt(claim, 'spec', 'volumeName') ?? '') !== '';

export const claimColumns: readonly Column[] = [
  nameColumn,
  text('Status', terminatingOr),
  text('Volume', (object) => textAt(object, 'spec', 'volumeName') ?? ''),
  text('Capacity', (object) => (isBound(object) ? (textAt(object, 'status', 'capacity', 'storage') ?? '') : '')),
  text('Access Modes', (object) => (isBound(object) ? accessModes(listAt(object, 'status', 'accessModes')) : '')),
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
  figure('AllowVolumeExpansion', (object) => at(object, 'allowVolumeExpansion') === true),
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
  { ...text('Attacher', (object) => textAt(object, 'spec', 'attacher') ?? ''), format: 'name' },
  text('PV', (object) => textAt(object, 'spec', 'source', 'persistentVolumeName') ?? ''),
  text('Node', (object) => textAt(object, 'spec', 'nodeName') ?? ''),
  boolean('Attached', (object) => at(object, 'status', 'attached') === true),
  ageColumn,
];

export const csiStorageCapacityColumns: readonly Column[] = [
  nameColumn,
  text('StorageClassName', (object) => textAt(object, 'storageClassName') ?? ''),
  text('Capacity', (object) => textAt(object, 'capacity') ?? UNSET),
];

export const volumeAttributesClassColumns: readonly Column[] = [
  nameColumn,
  text('DriverName', (object) => textAt(object, 'driverName') ?? ''),
  ageColumn,
];
