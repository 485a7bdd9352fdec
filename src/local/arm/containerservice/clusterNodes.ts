/** Nodes that AKS creates for machines and agent pools: an interface and a VM that joins the cluster. */
import { gpuSize } from '../../../catalogue/gpuRegistry.ts';
import { capabilityOf, type CatalogueSize } from '../../../catalogue/skuCatalogue.ts';
import type { ArmContext } from '../armContext.ts';
import { ArmError } from '../armError.ts';
import { IMAGE_GALLERIES } from '../compute/imageCatalogue.ts';
import { newestImageVersion } from '../compute/imageReleases.ts';
import type { FaultPlan } from '../faultPlan.ts';
import { at, listAt, objectAt, textAt, textsAt, type JsonObject } from '../jsonPath.ts';
import type { NetworkInterfaces } from '../network/networkInterfaces.ts';
import type { ArmResource } from '../resourceStore.ts';
import type { ArmRequest } from '../server/router.ts';
import { VIRTUAL_MACHINES, type VirtualMachines } from '../virtualMachines.ts';
import { aksRefusal } from './aksRefusal.ts';
import { resolvableNames } from './apiServerNames.ts';
import { renderNodeScript } from './nodeScript.ts';

export interface ClusterNodesOptions {
  readonly context: ArmContext;
  readonly machines: VirtualMachines;
  readonly interfaces: NetworkInterfaces;
  readonly faults: FaultPlan;
  /** Returns a token for the subscription of the images. */
  readonly imageToken: () => string;
  readonly imageSubscription: string;
  readonly defaultSubnetId: (nodeResourceGroup: string) => string;
}

export interface WantedNode {
  readonly cluster: ArmResource;
  readonly pool: ArmResource;
  readonly vmName: string;
  readonly zones: readonly string[];
  readonly tags: Readonly<Record<string, string>>;
  /** In the shape of the properties of an AKS machine. */
  readonly profile: JsonObject;
}

const OVERLAY_MAX_PODS = 250;
/** The bootstrap token of nodes that AKS creates. */
export const NODE_TOKEN = 'aksaks.0123456789abcdef';
/** Image definitions by operating system, for generation 2 on x64, generation 1, and Arm. */
const DEFINITIONS: Readonly<Record<string, readonly [gallery: string, gen2: string, gen1: string, arm: string]>> = {
  Ubuntu: ['AKSUbuntu', '2404gen2containerd', '2404containerd', '2404gen2arm64containerd'],
  Ubuntu2204: ['AKSUbuntu', '2204gen2containerd', '2204containerd', '2204gen2arm64containerd'],
  Ubuntu2404: ['AKSUbuntu', '2404gen2containerd', '2404containerd', '2404gen2arm64containerd'],
  AzureLinux: ['AKSAzureLinux', 'V3gen2', 'V3', 'V3gen2arm64'],
};
const NODE_IMAGE = /^([A-Za-z]+)-([A-Za-z0-9]+)-(\d{6}\.\d{2}\.\d+)$/;

export class ClusterNodes {
  private readonly options: ClusterNodesOptions;

  constructor(options: ClusterNodesOptions) {
    this.options = options;
  }

  /**
   * Begins to create a node and calls `finished` at the end. Returns errors of compute and network instead of throwing
   * them, because AKS has accepted the node by then.
   */
  begin(node: WantedNode, finished: (failure: ArmError | undefined) => void): ArmResource | ArmError {
    const { context, machines, interfaces, faults } = this.options;
    const group = groupOf(node.cluster);
    try {
      const subnet = textAt(node.profile, 'network', 'vnetSubnetID') ?? this.options.defaultSubnetId(group);
      const nic = interfaces.make(group, node.vmName, {
        tags: node.tags,
        properties: {
          ipConfigurations: [{ name: 'ipconfig1', properties: { primary: true, subnet: { id: subnet } } }],
        },
      });
      const body = this.vmBody(node, nic.id);
      const fault = faults.before({
        name: 'virtualMachines.createOrUpdate',
        resourceGroup: group,
        resourceName: node.vmName,
        body,
      });
      if (fault?.kind === 'refuse') throw fault.error;
      const request: ArmRequest = {
        method: 'PUT',
        path: context.store.idOf(group, VIRTUAL_MACHINES, node.vmName),
        query: new URLSearchParams(),
        headers: { 'x-ms-authorization-auxiliary': `Bearer ${this.options.imageToken()}` },
        body,
        parameters: { group, name: node.vmName },
        lateFault: fault?.kind === 'failLate' ? fault : undefined,
        ...(fault?.kind === 'finishLate' && { extraTime: fault.milliseconds }),
      };
      return machines.createFor(request, finished);
    } catch (error) {
      if (error instanceof ArmError) return error;
      throw error;
    }
  }

  /** Turns the VM of a node off or on. */
  power(cluster: ArmResource, vmName: string, state: 'off' | 'on'): void {
    const { context, machines } = this.options;
    machines.turn(context.store.idOf(groupOf(cluster), VIRTUAL_MACHINES, vmName), state);
  }

  /** Deletes the VM of a node with its interface and disk, or an interface whose VM was never created. */
  remove(cluster: ArmResource, vmName: string): void {
    const { context, machines, interfaces } = this.options;
    const group = groupOf(cluster);
    const machine = context.store.find(context.store.idOf(group, VIRTUAL_MACHINES, vmName));
    if (machine === undefined)
      interfaces.remove(context.store.idOf(group, 'Microsoft.Network/networkInterfaces', vmName));
    else machines.beginDelete(machine, { lateFault: undefined });
  }

  /** Returns the image of the profile, or the newest for its size: `AKSUbuntu-2404gen2containerd-202610.15.0`. */
  nodeImage(cluster: ArmResource, profile: JsonObject): string {
    const asked = textAt(profile, 'nodeImageVersion');
    if (asked !== undefined) {
      if (imageOf(asked) !== undefined) return asked;
      throw aksRefusal('InvalidParameter.value', { parameter: 'nodeImageVersion', value: asked });
    }
    const catalogue = this.options.context.catalogueAt(cluster.location);
    const size = catalogue.find(textAt(profile, 'hardware', 'vmSize') ?? '');
    const osSku = textAt(profile, 'operatingSystem', 'osSKU') ?? 'Ubuntu';
    const row = DEFINITIONS[osSku];
    if (row === undefined) throw aksRefusal('InvalidParameter.value', { parameter: 'osSKU', value: osSku });
    const [gallery, gen2, gen1, arm] = row;
    const x64 = capabilityOf(size, 'HyperVGenerations').includes('V2') ? gen2 : gen1;
    const name = isArm(size) ? arm : x64;
    return `${gallery}-${name}-${newestImageVersion(this.options.context)}`;
  }

  private vmBody(node: WantedNode, interfaceId: string): JsonObject {
    const { context, imageSubscription } = this.options;
    const { profile, vmName } = node;
    const image = imageOf(this.nodeImage(node.cluster, profile));
    const spot = textAt(profile, 'priority') === 'Spot';
    const has = (part: string, feature: string): boolean => at(profile, part, feature) === true;
    const system = objectAt(profile, 'operatingSystem');
    const isEphemeral = system['osDiskType'] === 'Ephemeral';
    const size = typeof system['osDiskSizeGB'] === 'number' ? system['osDiskSizeGB'] : 128;
    return {
      location: locationOf(context, node.cluster),
      ...(node.zones.length === 0 ? {} : { zones: node.zones }),
      tags: { ...node.tags, 'aks-managed-poolName': node.pool.name },
      properties: {
        hardwareProfile: { vmSize: textAt(profile, 'hardware', 'vmSize') },
        storageProfile: {
          imageReference: {
            id: `/subscriptions/${imageSubscription}/resourceGroups/${image?.resourceGroup ?? ''}/providers/Microsoft.Compute/galleries/${image?.gallery ?? ''}/images/${image?.name ?? ''}/versions/${image?.version ?? ''}`,
          },
          osDisk: {
            name: vmName,
            createOption: 'FromImage',
            deleteOption: 'Delete',
            diskSizeGB: size,
            ...(isEphemeral && { caching: 'ReadOnly', diffDiskSettings: { option: 'Local' } }),
          },
        },
        osProfile: { computerName: vmName, adminUsername: 'azureuser', customData: this.customData(node) },
        networkProfile: {
          networkInterfaces: [{ id: interfaceId, properties: { primary: true, deleteOption: 'Delete' } }],
        },
        ...(spot && { priority: 'Spot', evictionPolicy: 'Delete', billingProfile: { maxPrice: -1 } }),
        ...(has('hardware', 'ultraSsdEnabled') && { additionalCapabilities: { ultraSSDEnabled: true } }),
        ...(has('security', 'enableEncryptionAtHost') && { securityProfile: { encryptionAtHost: true } }),
      },
    };
  }

  private customData({ cluster, pool, profile, vmName }: WantedNode): string {
    const { context } = this.options;
    const kubernetes = objectAt(profile, 'kubernetes');
    const size = context.catalogueAt(cluster.location).find(textAt(profile, 'hardware', 'vmSize') ?? '');
    const maxPods = kubernetes['maxPods'];
    const spot = textAt(profile, 'priority') === 'Spot';
    const taints = ['nodeTaints', 'nodeInitializationTaints'].flatMap((member) =>
      listAt(kubernetes, member).map(String),
    );
    return renderNodeScript({
      kubernetesVersion:
        textAt(kubernetes, 'orchestratorVersion') ?? textAt(cluster.properties, 'kubernetesVersion') ?? '',
      cpus: size?.vCPUs ?? 0,
      memoryGiB: size?.memoryGiB ?? 0,
      maxPods: typeof maxPods === 'number' ? maxPods : OVERLAY_MAX_PODS,
      architecture: isArm(size) ? 'arm64' : 'amd64',
      nvidia:
        gpuSize(size?.sku.name ?? '')?.manufacturer === 'nvidia' &&
        textAt(profile, 'hardware', 'gpuProfile', 'driver') !== 'None',
      labels: {
        agentpool: pool.name,
        'kubernetes.azure.com/agentpool': pool.name,
        'kubernetes.azure.com/cluster': groupOf(cluster),
        'kubernetes.azure.com/mode': (textAt(profile, 'mode') ?? 'User').toLowerCase(),
        'kubernetes.azure.com/node-image-version': this.nodeImage(cluster, profile),
        'kubernetes.azure.com/os-sku': (textAt(profile, 'operatingSystem', 'osSKU') ?? 'Ubuntu').replace(/\d+$/, ''),
        'kubernetes.azure.com/role': 'agent',
        'kubernetes.azure.com/scalesetpriority': spot ? 'spot' : 'regular',
        'kubernetes.azure.com/priority': spot ? 'spot' : 'regular',
        ...textsAt(kubernetes, 'nodeLabels'),
      },
      taints,
      bootstrapToken: NODE_TOKEN,
      apiServerName: resolvableNames(cluster.properties)[0] ?? '',
      flags: {},
      variables: {
        RESOURCE_GROUP: groupOf(cluster),
        SUBSCRIPTION_ID: context.store.subscriptionId,
        LOCATION: locationOf(context, cluster),
        NODE_NAME: vmName,
      },
    });
  }
}

const isArm = (size: CatalogueSize | undefined): boolean => capabilityOf(size, 'CpuArchitectureType') === 'Arm64';

function locationOf(context: ArmContext, cluster: ArmResource): string {
  return cluster.location ?? context.location;
}

function groupOf(cluster: ArmResource): string {
  return textAt(cluster.properties, 'nodeResourceGroup') ?? '';
}

function imageOf(
  nodeImage: string,
): Readonly<Record<'gallery' | 'resourceGroup' | 'name' | 'version', string>> | undefined {
  const [, galleryName, name = '', version = ''] = NODE_IMAGE.exec(nodeImage) ?? [];
  const gallery = IMAGE_GALLERIES.find((each) => each.name === galleryName);
  if (gallery === undefined || !gallery.images.some((each) => each.name === name)) return undefined;
  return { gallery: gallery.name, resourceGroup: gallery.resourceGroup, name, version };
}
