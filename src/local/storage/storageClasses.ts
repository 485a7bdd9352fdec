/** The storage classes and CSI drivers that AKS has in every cluster. */
import { Kinds, type StorageClass } from '../../api/kinds.ts';
import type { Draft, Kube } from '../../kube/kube.ts';
import { createIfAbsent } from '../writes.ts';

export const DISK_DRIVER = 'disk.csi.azure.com';
export const FILE_DRIVER = 'file.csi.azure.com';

const IS_DEFAULT = 'storageclass.kubernetes.io/is-default-class';

type Row = readonly [name: string, driver: string, sku: string];

const ROWS: readonly Row[] = [
  ['default', DISK_DRIVER, 'StandardSSD_LRS'],
  ['managed', DISK_DRIVER, 'StandardSSD_LRS'],
  ['managed-csi', DISK_DRIVER, 'StandardSSD_LRS'],
  ['managed-csi-premium', DISK_DRIVER, 'Premium_LRS'],
  ['managed-premium', DISK_DRIVER, 'Premium_LRS'],
  ['azurefile', FILE_DRIVER, 'Standard_LRS'],
  ['azurefile-csi', FILE_DRIVER, 'Standard_LRS'],
  ['azurefile-csi-premium', FILE_DRIVER, 'Premium_LRS'],
  ['azurefile-premium', FILE_DRIVER, 'Premium_LRS'],
];

function storageClass([name, provisioner, sku]: Row): Draft<StorageClass> {
  const isDisk = provisioner === DISK_DRIVER;
  return {
    metadata: {
      name,
      labels: { 'addonmanager.kubernetes.io/mode': 'EnsureExists', 'kubernetes.io/cluster-service': 'true' },
      ...(name === 'default' && { annotations: { [IS_DEFAULT]: 'true' } }),
    },
    provisioner,
    parameters: isDisk ? { skuname: sku } : { skuName: sku },
    reclaimPolicy: 'Delete',
    allowVolumeExpansion: true,
    // A disk is in one zone, so it is created in that of its first pod. A file share is in all zones.
    volumeBindingMode: isDisk ? 'WaitForFirstConsumer' : 'Immediate',
  };
}

export async function installStorageClasses(kube: Kube): Promise<void> {
  for (const row of ROWS) await createIfAbsent(kube, Kinds.StorageClass, storageClass(row));
}
