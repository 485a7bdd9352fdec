/**
 * The Azure adapter of the cloud port. In: claims, pools and the clients of Azure. Out: machines for claims, and what
 * Azure sells. See cloud/cloudProvider.ts for what it promises.
 */
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
import type { MachineRecord, Machines, MachineWish } from './machines.ts';
import { isManagedNetwork, parseSubnetId, type ClusterNetwork } from './network.ts';
import { claimLabels, kubeletLabels, wantsUltraSsd, type Choice } from './nodeLabels.ts';
import type { AzureNodeClass } from './nodeClass.ts';
import { REGIONAL_ZONE, zoneLabel } from '../catalogue/offerings.ts';
import type { Prices } from './prices.ts';
import { claimNameOf, machineNameFor, machineNameOf, providerIdOf } from './providerId.ts';
import { QUOTA_INTERVAL, type Quota } from './quota.ts';
import type { Skus } from './skus.ts';
import type { UnavailableOfferings } from './unavailableOfferings.ts';
import { billingExtensionOf, tagsOf, virtualMachineOf } from './virtualMachine.ts';

export interface AzureCloudProviderParts {
  readonly settings: AzureSettings;
  readonly clock: Clock;
  readonly log: Log;
  readonly skus: Skus;
  readonly prices: Prices;
  readonly unavailable: UnavailableOfferings;
  readonly quota: Quota;
  readonly types: InstanceTypes;
  readonly machines: Machines;
  readonly clusterNetwork: ClusterNetwork;
  readonly nodeClass: AzureNodeClass;
}

const REFRESH_INTERVAL = 12 * 60 * 60 * 1000;
const REFRESH_RETRY = 5 * 60 * 1000;
const MINUTE = 60_000;

export class AzureCloudProvider implements CloudProvider {
  readonly name = 'azure';
  readonly nodeClasses = [Kinds.AKSNodeClass];
  readonly repairPolicies: readonly RepairPolicy[] = [
    { conditionType: 'Ready', conditionStatus: 'False', toleration: 10 * MINUTE },
    { conditionType: 'Ready', conditionStatus: 'Unknown', toleration: 10 * MINUTE },
    { conditionType: 'kubernetes.azure.com/NodeHealthy', conditionStatus: 'False', toleration: 0 },
    { conditionType: 'PreemptionScheduled', conditionStatus: 'True', toleration: 0 },
  ];
  /** For the loop that keeps the status of node classes. */
  readonly nodeClass: AzureNodeClass;
  /** For the loop that tidies up after launches. */
  readonly leftovers: LeftoverInterfaces;
  private readonly parts: AzureCloudProviderParts;
  private refreshDue = 0;
  private quotaDue = 0;
  private refreshing: Promise<void> | undefined;

  constructor(parts: AzureCloudProviderParts) {
    this.parts = parts;
    this.nodeClass = parts.nodeClass;
    this.leftovers = new LeftoverInterfaces(parts);
  }

  /** Fetches sizes and prices. Without sizes nothing can run, so that is an error; without prices it is a pity. */
  async refresh(signal?: AbortSignal): Promise<void> {
    const { skus, prices, clock, log } = this.parts;
    this.refreshDue = clock.now() + REFRESH_RETRY;
    const work = [skus.refresh(signal), prices.refresh(signal), this.refreshQuota(signal)] as const;
    const [listed, priced] = await Promise.allSettled(work);
    if (priced.status === 'rejected') log.error('Could not refresh prices', { error: priced.reason as unknown });
    if (listed.status === 'rejected') throw listed.reason;
    if (priced.status === 'fulfilled') this.refreshDue = clock.now() + REFRESH_INTERVAL;
  }

  async instanceTypes(_pool: NodePool, nodeClass: AksNodeClass): Promise<readonly InstanceType[]> {
    this.refreshWhenDue();
    return this.parts.types.list(nodeClass);
  }

  async create(request: LaunchRequest<AksNodeClass>, signal?: AbortSignal): Promise<Instance> {
    const { claim, nodeClass } = request;
    const { images, kubernetesVersion } = readyStatus(nodeClass);
    const existing = await this.adopt(claim, nodeClass, kubernetesVersion, signal);
    if (existing !== undefined) return existing;
    const purchase = purchaseFor(request, this.parts.types.list(nodeClass));
    const choice: Choice = { claim, nodeClass, ...purchase, kubernetesVersion };
    return this.launch(choice, images, signal);
  }

  async delete(claim: NodeClaim, signal?: AbortSignal): Promise<void> {
    const recorded = machineNameOf(claim.status?.providerID ?? '');
    const name = recorded ?? machineName(claim);
    if ((await this.parts.machines.remove(name, signal)) === 'gone') {
      throw new InstanceNotFoundError(name);
    }
  }

  async get(providerID: string, signal?: AbortSignal): Promise<Instance> {
    const name = machineNameOf(providerID);
    if (name === undefined) throw new InstanceNotFoundError(providerID);
    const machine = await this.parts.machines.find(name, signal);
    if (machine === undefined) throw new InstanceNotFoundError(name);
    return this.describe(machine);
  }

  async list(signal?: AbortSignal): Promise<readonly Instance[]> {
    return (await this.parts.machines.list(signal)).map((machine) => this.describe(machine));
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
    const machine = await machines.settled(name, signal);
    if (machine === undefined) return undefined;
    if (machine.state !== 'Succeeded') {
      if (machine.state !== 'Deleting') await machines.remove(name, signal);
      throw new LaunchError(
        'CreateInstanceFailed',
        `Machine ${name} of an earlier attempt is in state ${machine.state}; it is removed before the next one.`,
      );
    }
    // The earlier attempt may have ended between the machine and its extension.
    const extension = this.extensionFor(claim, nodeClass);
    if (extension !== undefined) await machines.ensureExtension(name, extension, signal);
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
    try {
      const machine = await machines.create(
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
          extension: this.extensionFor(claim, nodeClass),
          machine: (interfaceId) => virtualMachineOf({ ...common, imageId: image.id, ultraSsd, interfaceId }),
        },
        signal,
      );
      return this.launched(choice, machine);
    } catch (error) {
      if (signal?.aborted === true) throw error;
      throw interpretLaunchFailure(error, { sku, offering, location: settings.location }, unavailable);
    }
  }

  private extensionFor(claim: NodeClaim, nodeClass: AksNodeClass): MachineWish['extension'] {
    const { settings } = this.parts;
    if (!settings.billingExtension) return undefined;
    return billingExtensionOf(settings.location, tagsOf(claim, nodeClass, settings));
  }

  private launched(choice: Choice, machine: MachineRecord): Instance {
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
  private describe(machine: MachineRecord): Instance {
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

  /** In the background, one at a time; whoever asked meanwhile gets what is known. */
  private refreshWhenDue(): void {
    const { clock, log } = this.parts;
    const now = clock.now();
    if (this.refreshing !== undefined || now < Math.min(this.refreshDue, this.quotaDue)) return;
    this.refreshing = clock
      .track(now < this.refreshDue ? this.refreshQuota() : this.refresh())
      .catch((error: unknown) => log.error('Could not refresh machine sizes', { error }))
      .finally(() => {
        this.refreshing = undefined;
      });
  }

  /** Never fails: without figures every size is allowed, and Azure says no itself. */
  private async refreshQuota(signal?: AbortSignal): Promise<void> {
    const { clock, log, quota } = this.parts;
    this.quotaDue = clock.now() + QUOTA_INTERVAL;
    try {
      await quota.refresh(signal);
    } catch (error) {
      log.error('Could not refresh quota', { error });
    }
  }
}

function machineName(claim: NodeClaim): string {
  return machineNameFor(claim.metadata.name);
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

function isOfferingOf(offering: Offering, machine: MachineRecord, location: string): boolean {
  return (
    offering.zone === zoneLabel(location, machine.zone ?? REGIONAL_ZONE) &&
    (offering.capacityType === 'spot') === machine.spot
  );
}

function nonZero(resources: Resources): Record<string, string> {
  return formatResources(Object.fromEntries(Object.entries(resources).filter(([, amount]) => !amount.isZero())));
}
