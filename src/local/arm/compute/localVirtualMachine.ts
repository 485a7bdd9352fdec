/** What a simulated kubelet needs to know of its VM. */
import { capabilityOf } from '../../../catalogue/skuCatalogue.ts';
import type { ArmContext } from '../armContext.ts';
import { resolvableNames } from '../containerservice/apiServerNames.ts';
import { listAt, objectAt, textAt } from '../jsonPath.ts';
import type { NetworkInterfaces } from '../network/networkInterfaces.ts';
import type { ArmResource } from '../resourceStore.ts';

const MANAGED_CLUSTERS = 'Microsoft.ContainerService/managedClusters';

export interface LocalVirtualMachine {
  readonly id: string;
  /** Unique, while a new VM of the same name gets the same id. */
  readonly vmId: string;
  readonly name: string;
  readonly resourceGroup: string;
  readonly computerName: string;
  readonly location: string;
  /** `1`, `2` or `3`; undefined for a VM outside of zones. */
  readonly zone: string | undefined;
  readonly size: string;
  readonly vCPUs: number;
  readonly memoryGiB: number;
  readonly gpus: number;
  /** Architecture of the hardware, as in `kubernetes.io/arch`. */
  readonly architecture: 'amd64' | 'arm64';
  readonly osDiskSizeGB: number;
  readonly priority: 'Regular' | 'Spot';
  readonly imageId: string | undefined;
  /** Base64, as it was sent. */
  readonly customData: string | undefined;
  readonly privateIPAddress: string | undefined;
  /** Names of API servers that DNS resolves in the VM's network. */
  readonly apiServerNames: readonly string[];
  readonly tags: Readonly<Record<string, string>>;
  readonly provisioningState: string;
  /** True while the VM is powered off. */
  readonly isOff: boolean;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

export function describeVirtualMachine(
  context: ArmContext,
  interfaces: NetworkInterfaces,
  machine: ArmResource,
): LocalVirtualMachine {
  const { properties, hidden } = machine;
  const size = textAt(properties, 'hardwareProfile', 'vmSize') ?? '';
  const entry = context.catalogueAt(machine.location).find(size);
  const image = objectAt(properties, 'storageProfile', 'imageReference');
  const diskSize = objectAt(properties, 'storageProfile', 'osDisk')['diskSizeGB'];
  const createdAt = hidden?.['createdAt'];
  const resourceGroup = machine.id.split('/')[4] ?? '';
  const nodeGroup = resourceGroup.toLowerCase();
  return {
    id: machine.id,
    vmId: textAt(properties, 'vmId') ?? '',
    name: machine.name,
    resourceGroup,
    computerName: textAt(properties, 'osProfile', 'computerName') ?? machine.name,
    location: machine.location ?? context.location,
    zone: machine.zones?.[0],
    size,
    vCPUs: entry?.vCPUs ?? 0,
    memoryGiB: entry?.memoryGiB ?? 0,
    gpus: Number(capabilityOf(entry, 'GPUs')),
    architecture: capabilityOf(entry, 'CpuArchitectureType') === 'Arm64' ? 'arm64' : 'amd64',
    osDiskSizeGB: typeof diskSize === 'number' ? diskSize : 30,
    priority: textAt(properties, 'priority') === 'Spot' ? 'Spot' : 'Regular',
    imageId: textAt(image, 'communityGalleryImageId') ?? textAt(image, 'sharedGalleryImageId') ?? textAt(image, 'id'),
    customData: textAt(hidden, 'customData'),
    privateIPAddress: interfaces.primaryAddress(interfaceIds(machine)[0] ?? ''),
    apiServerNames: context.store
      .list(MANAGED_CLUSTERS)
      .filter(({ properties: cluster }) => nodeGroup === textAt(cluster, 'nodeResourceGroup')?.toLowerCase())
      .flatMap(({ properties: cluster }) => resolvableNames(cluster)),
    tags: machine.tags ?? {},
    provisioningState: textAt(properties, 'provisioningState') ?? '',
    isOff: textAt(hidden, 'told') === 'off',
    createdAt: typeof createdAt === 'number' ? createdAt : 0,
  };
}

export function interfaceIds(machine: ArmResource): readonly string[] {
  return listAt(machine.properties, 'networkProfile', 'networkInterfaces')
    .map((reference) => textAt(reference, 'id'))
    .filter((id) => id !== undefined);
}
