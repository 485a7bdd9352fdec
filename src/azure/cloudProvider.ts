/** The Azure adapter of the cloud port; cloud/cloudProvider.ts has its contract. */
import type { AksNodeClass } from '../api/kinds/aksNodeClass.ts';
import { AKS_NODE_CLASS_HASH_VERSION, aksNodeClassHash } from '../api/aksNodeClassHash.ts';
import { findCondition } from '../api/conditions.ts';
import { AksNodeClassConditions, READY, Reasons } from '../api/conditionTypes.ts';
import { Kinds } from '../api/kinds.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import type { NodePool } from '../api/kinds/nodePool.ts';
import { Annotations, Labels, ManagedTags } from '../api/labels.ts';
import type { Clock } from '../clock/clock.ts';
import type { CloudProvider, DriftSubject, Instance, LaunchRequest, RepairPolicy } from '../cloud/cloudProvider.ts';
import { InstanceNotFoundError, LaunchError, NodeClassNotReadyError } from '../cloud/errors.ts';
import type { InstanceType, Offering } from '../cloud/instanceType.ts';
import { purchaseFor } from '../cloud/offeringChoice.ts';
import type { Log } from '../kube/log.ts';
import { formatResources, type Resources } from '../units/resources.ts';
import type { AzureSettings } from './azureSettings.ts';
import { bootstrapTaints, renderCustomData } from './bootstrap.ts';
import { isCurrent } from './classSettings.ts';
import { driftOf } from './drift.ts';
import { selectImage, type NodeImage } from './images.ts';
import type { InstanceTypes } from './instanceTypes.ts';
import { interpretLaunchFailure } from './launchErrors.ts';
import { LeftoverInterfaces } from './leftoverInterfaces.ts';
import { LaunchTracker } from './launchTracker.ts';
import type { Extension, VirtualMachineRecord, VirtualMachines } from './virtualMachines.ts';
import { isManagedNetwork, parseSubnetId, type ClusterNetwork } from './network.ts';
import { claimLabels, kubeletLabels, wantsUltraSsd, type Choice } from './nodeLabels.ts';
import type { AzureNodeClass } from './nodeClass.ts';
import { REGIONAL_ZONE, zoneLabel } from '../catalogue/offerings.ts';
import { claimNameOf, vmNameFor, vmNameOf, providerIdOf } from './providerId.ts';
import type { Refreshes } from './refreshes.ts';
import type { Skus } from './skus.ts';
import type { UnavailableOfferings } from './unavailableOfferings.ts';
import { billingExtensionOf, tagsOf, virtualMachineOf } from './virtualMachineBody.ts';

export interface AzureCloudProviderParts {
  readonly settings: AzureSettings;
  readonly clock: Clock;
  readonly log: Log;
  readonly skus: Skus;
  readonly unavailable: UnavailableOfferings;
  readonly types: InstanceTypes;
  readonly machines: VirtualMachines;
  readonly clusterNetwork: ClusterNetwork;
  readonly nodeClass: AzureNodeClass;
  readonly refreshes: Refreshes;
}

const MINUTE = 60_000;
const RESUMED_AGE = 60 * MINUTE;

export class AzureCloudProvider implements CloudProvider {
  readonly name = 'azure';
  readonly nodeClasses = [Kinds.AKSNodeClass];
  readonly repairPolicies: readonly RepairPolicy[] = [
    { conditionType: 'Ready', conditionStatus: 'False', toleration: 10 * MINUTE },
    { conditionType: 'Ready', conditionStatus: 'Unknown', toleration: 10 * MINUTE },
    { conditionType: 'kubernetes.azure.com/NodeHealthy', conditionStatus: 'False', toleration: 0 },
    { conditionType: 'PreemptionScheduled', conditionStatus: 'True', toleration: 0, isLeaving: true },
  ];
  /** For the loop that keeps the status of node classes. */
  readonly nodeClass: AzureNodeClass;
  /** The loops that keep sizes, prices and quota up to date. */
  readonly refreshes: Refreshes;
  /** For the loop that tidies up after launches. */
  readonly leftovers: LeftoverInterfaces;
  private readonly tracker: LaunchTracker;
  private isResumed = false;
  private readonly parts: AzureCloudProviderParts;

  constructor(parts: AzureCloudProviderParts) {
    this.parts = parts;
    this.nodeClass = parts.nodeClass;
    this.refreshes = parts.refreshes;
    this.leftovers = new LeftoverInterfaces(parts);
    this.tracker = new LaunchTracker(parts);
  }

  async instanceTypes(_pool: NodePool, nodeClass: AksNodeClass): Promise<readonly InstanceType[]> {
    return this.parts.types.list(nodeClass);
  }

  async create(request: LaunchRequest<AksNodeClass>, signal?: AbortSignal): Promise<Instance> {
    const { claim, nodeClass } = request;
    const { images, kubernetesVersion } = readyStatus(nodeClass);
    const existing = await this.adopt(claim, nodeClass, kubernetesVersion, signal);
    if (existing !== undefined) return existing;
    const purchase = purchaseFor(request, this.parts.types.list(nodeClass));
    const choice: Choice = { claim, nodeClass, ...purchase, kubernetesVersion };
    return this.launch(choice, images, request.onFailure, signal);
  }

  async delete(claim: NodeClaim, signal?: AbortSignal): Promise<void> {
    const recorded = vmNameOf(claim.status?.providerID ?? '');
    const name = recorded ?? machineName(claim);
    this.tracker.forget(name);
    if ((await this.parts.machines.remove(name, signal)) === 'gone') {
      throw new InstanceNotFoundError(name);
    }
  }

  async get(providerID: string, signal?: AbortSignal): Promise<Instance> {
    const name = vmNameOf(providerID);
    if (name === undefined) throw new InstanceNotFoundError(providerID);
    const machine = await this.parts.machines.find(name, signal);
    if (machine === undefined) throw new InstanceNotFoundError(name);
    return this.describe(machine);
  }

  async list(signal?: AbortSignal): Promise<readonly Instance[]> {
    const machines = await this.parts.machines.list(signal);
    this.resumeLaunches(machines, signal);
    return machines.map((machine) => this.describe(machine));
  }

  async driftReason({ claim, nodeClass, node }: DriftSubject<AksNodeClass>): Promise<string | undefined> {
    if (claim.metadata.labels?.[Labels.nodePool] === undefined) return undefined;
    return driftOf(claim, nodeClass, node, this.parts.settings);
  }

  /** The machine that an earlier call made for this claim, if there is one. */
  private async adopt(
    claim: NodeClaim,
    nodeClass: AksNodeClass,
    kubernetesVersion: string,
    signal: AbortSignal | undefined,
  ): Promise<Instance | undefined> {
    const { machines, types } = this.parts;
    const name = machineName(claim);
    const machine = await machines.find(name, signal);
    if (machine === undefined) return undefined;
    if (!['Creating', 'Updating', 'Succeeded'].includes(machine.state)) {
      if (machine.state !== 'Deleting') await machines.remove(name, signal);
      throw new LaunchError(
        'CreateInstanceFailed',
        `Machine ${name} of an earlier attempt is in state ${machine.state}; it is removed before the next one.`,
      );
    }
    // The earlier process may have ended before the VM ran, or before its extension was on.
    this.tracker.follow({ name, extension: this.extensionWith(machine.tags) }, signal);
    const type = types.list(nodeClass).find((candidate) => candidate.name === machine.size);
    const offering = type?.offerings.find((candidate) =>
      isOfferingOf(candidate, machine, this.parts.settings.location),
    );
    if (type === undefined || offering === undefined) return this.describe(machine);
    return this.launched({ claim, nodeClass, type, offering, kubernetesVersion }, machine);
  }

  private async launch(
    choice: Choice,
    images: readonly NodeImage[],
    onFailure: LaunchRequest['onFailure'],
    signal: AbortSignal | undefined,
  ): Promise<Instance> {
    const { settings, skus, machines, types, unavailable, clusterNetwork } = this.parts;
    const { claim, nodeClass, type, offering } = choice;
    const sku = skus.find(type.name);
    const image = selectImage(images, type);
    if (sku === undefined) throw new LaunchError('InstanceTypeResolutionFailed', `${type.name} is no longer sold.`);
    if (image === undefined) {
      throw new LaunchError('CreateInstanceFailed', `No image of ${nodeClass.metadata.name} boots ${type.name}.`);
    }
    const name = machineName(claim);
    const shape = types.shapeOf(sku, nodeClass);
    const subnetId = nodeClass.spec?.vnetSubnetID ?? settings.vnetSubnetId;
    const subnet = parseSubnetId(subnetId);
    if (subnet === undefined) throw new LaunchError('CreateInstanceFailed', `${subnetId} is not the id of a subnet.`);
    const tags = tagsOf(claim, nodeClass, settings);
    const securityGroup = await clusterNetwork.securityGroup(signal);
    const customData = renderCustomData({
      settings,
      shape,
      architecture: sku.architecture ?? 'amd64',
      kubelet: nodeClass.spec?.kubelet,
      subnetId,
      securityGroup,
      kubernetesVersion: choice.kubernetesVersion,
      labels: kubeletLabels(choice, settings),
      taints: bootstrapTaints(claim),
    });
    const common = { name, settings, nodeClass, sku, offering, osDiskSizeGB: shape.osDiskSizeGB, customData, tags };
    const ultraSsd = wantsUltraSsd(claim);
    const interpret = (error: unknown): Error =>
      interpretLaunchFailure(error, { sku, offering, location: settings.location }, unavailable);
    const extension = this.extensionWith(tags);
    try {
      const { record, operation } = await machines.begin(
        {
          name,
          network: {
            location: settings.location,
            subnetId,
            securityGroupId: isManagedNetwork(subnet, settings.nodeResourceGroup) ? undefined : securityGroup.id,
            acceleratedNetworking: sku.acceleratedNetworking,
            maxPods: shape.maxPods,
            networking: settings,
            tags,
          },
          machine: (interfaceId) => virtualMachineOf({ ...common, imageId: image.id, ultraSsd, interfaceId }),
        },
        signal,
      );
      const failed = (error: unknown): void => {
        const known = interpret(error);
        onFailure?.(known);
      };
      this.tracker.follow({ name, operation, extension, onFailure: failed }, signal);
      return this.launched(choice, record);
    } catch (error) {
      if (signal?.aborted === true) throw error;
      throw interpret(error);
    }
  }

  private extensionWith(tags: Readonly<Record<string, string>>): Extension | undefined {
    const { settings } = this.parts;
    return settings.billingExtension ? billingExtensionOf(settings.location, tags) : undefined;
  }

  /** Once per process: takes up the launches that an earlier process has left. Only young VMs can be unfinished. */
  private resumeLaunches(machines: readonly VirtualMachineRecord[], signal: AbortSignal | undefined): void {
    if (this.isResumed) return;
    this.isResumed = true;
    const oldest = this.parts.clock.now() - RESUMED_AGE;
    for (const { name, tags, createdAt = 0 } of machines) {
      if (createdAt > oldest) this.tracker.follow({ name, extension: this.extensionWith(tags) }, signal);
    }
  }

  private launched(choice: Choice, machine: VirtualMachineRecord): Instance {
    const { nodeClass, type } = choice;
    return {
      ...this.describe(machine),
      labels: claimLabels(choice),
      annotations: {
        [Annotations.aksNodeClassHash]: aksNodeClassHash(nodeClass),
        [Annotations.aksNodeClassHashVersion]: AKS_NODE_CLASS_HASH_VERSION,
      },
      capacity: nonZero(type.capacity),
      allocatable: nonZero(type.allocatable),
    };
  }

  /** What can be said of a machine without its claim and class. */
  private describe(machine: VirtualMachineRecord): Instance {
    const { settings } = this.parts;
    const pool = machine.tags[ManagedTags.nodePool];
    const claimName = claimNameOf(machine.name);
    return {
      providerID: providerIdOf(machine.id),
      ...(claimName === undefined ? {} : { claimName }),
      ...(machine.imageId === undefined ? {} : { imageID: machine.imageId }),
      labels: {
        [Labels.instanceType]: machine.size,
        [Labels.zone]: zoneLabel(settings.location, machine.zone ?? REGIONAL_ZONE),
        [Labels.capacityType]: machine.spot ? 'spot' : 'on-demand',
        ...(pool === undefined ? {} : { [Labels.nodePool]: pool }),
      },
      annotations: {},
      capacity: {},
      allocatable: {},
      ...(machine.createdAt === undefined ? {} : { createdAt: machine.createdAt }),
      ...(machine.state === 'Deleting' ? { deleting: true } : {}),
    };
  }
}

function machineName(claim: NodeClaim): string {
  return vmNameFor(claim.metadata.name);
}

/** What a launch needs of the class's status; throws when the class is not ready for its present spec. */
function readyStatus(nodeClass: AksNodeClass): {
  readonly images: readonly NodeImage[];
  readonly kubernetesVersion: string;
} {
  const { name } = nodeClass.metadata;
  const ready = findCondition(nodeClass, READY);
  if (ready?.status === 'False') {
    throw new NodeClassNotReadyError(`AKSNodeClass ${name}`, `is not ready: ${ready.message ?? ready.reason ?? ''}`);
  }
  const { images, kubernetesVersion } = nodeClass.status ?? {};
  const current =
    ready?.status === 'True' &&
    isCurrent(nodeClass, AksNodeClassConditions.imagesReady) &&
    isCurrent(nodeClass, AksNodeClassConditions.kubernetesVersionReady);
  if (!current || images === undefined || kubernetesVersion === undefined || kubernetesVersion === '') {
    throw new LaunchError(
      Reasons.nodeClassReadinessUnknown,
      `The status of AKSNodeClass ${name} does not describe its present spec yet.`,
    );
  }
  return { images, kubernetesVersion };
}

function isOfferingOf(offering: Offering, machine: VirtualMachineRecord, location: string): boolean {
  return (
    offering.zone === zoneLabel(location, machine.zone ?? REGIONAL_ZONE) &&
    (offering.capacityType === 'spot') === machine.spot
  );
}

function nonZero(resources: Resources): Record<string, string> {
  return formatResources(Object.fromEntries(Object.entries(resources).filter(([, amount]) => !amount.isZero())));
}
