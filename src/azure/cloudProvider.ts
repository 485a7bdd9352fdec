/** The Azure adapter of the cloud port; see cloud/cloudProvider.ts for the contract. */
import type { AksNodeClass } from '../api/kinds/aksNodeClass.ts';
import { AKS_NODE_CLASS_HASH_VERSION, aksNodeClassHash } from '../api/aksNodeClassHash.ts';
import { findCondition } from '../api/conditions.ts';
import { AksNodeClassConditions, READY, Reasons } from '../api/conditionTypes.ts';
import { Kinds } from '../api/kinds.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import type { NodePool } from '../api/kinds/nodePool.ts';
import { Annotations, Labels, ManagedTags } from '../api/labels.ts';
import type { LearnedAllocatable } from '../catalogue/learnedAllocatable.ts';
import type { Clock } from '../clock/clock.ts';
import type { CloudProvider, DriftSubject, Instance, LaunchRequest, RepairPolicy } from '../cloud/cloudProvider.ts';
import { InstanceNotFoundError, LaunchError, NodeClassNotReadyError } from '../cloud/errors.ts';
import { launchDetail } from '../errors/launchProblems.ts';
import type { InstanceType, Offering, QuotaFigure, QuotaNeed } from '../cloud/instanceType.ts';
import { purchaseFor } from '../cloud/offeringChoice.ts';
import { firstPlanned } from '../cloud/plannedOfferings.ts';
import type { Log } from '../kube/log.ts';
import type { Counter, MetricsRegistry } from '../kube/metrics.ts';
import { formatResources, type Resources } from '../units/resources.ts';
import { createsAksMachines, type AzureSettings } from './azureSettings.ts';
import { isCurrent } from './classSettings.ts';
import { driftOf } from './drift.ts';
import { selectImage, type NodeImage } from './images.ts';
import type { InPlaceUpdates } from './inPlaceUpdates.ts';
import type { InstanceRecord } from './instanceRecord.ts';
import type { Instances } from './instances.ts';
import type { InstanceTypes } from './instanceTypes.ts';
import { interpretLaunchFailure, isOfferingFailure } from './launchErrors.ts';
import type { Launcher } from './launcher.ts';
import type { LaunchTracker } from './launchTracker.ts';
import type { LeftoverInterfaces } from './leftoverInterfaces.ts';
import { claimLabels, type Choice } from './nodeLabels.ts';
import type { AzureNodeClass } from './nodeClass.ts';
import type { Reservation } from '../catalogue/reservedOfferings.ts';
import { quotaNeed, REGIONAL_ZONE, zoneLabel } from '../catalogue/offerings.ts';
import { providerIdOf } from './providerId.ts';
import type { Quota } from './quota.ts';
import type { Reservations } from './reservations.ts';
import type { Refreshes } from './refreshes.ts';
import type { Skus } from './skus.ts';
import { UnavailableOfferings } from './unavailableOfferings.ts';

export interface AzureCloudProviderParts {
  readonly settings: AzureSettings;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: MetricsRegistry;
  readonly skus: Skus;
  readonly unavailable: UnavailableOfferings;
  readonly quota: Quota;
  /** Absent where instances cannot use reservations. */
  readonly reservations?: Reservations | undefined;
  readonly types: InstanceTypes;
  readonly instances: Instances;
  readonly launcher: Launcher;
  readonly tracker: LaunchTracker;
  /** For the loop that updates the status of node classes. */
  readonly nodeClass: AzureNodeClass;
  /** For the loop that learns the allocatable resources of joined nodes. */
  readonly learned: LearnedAllocatable;
  /** For the loops that refresh instance types, prices and quota. */
  readonly refreshes: Refreshes;
  /** For the loop that removes leftovers of launches. */
  readonly leftovers: LeftoverInterfaces;
  /** For the loop that updates tags and identities of running instances. */
  readonly inPlaceUpdates: InPlaceUpdates;
}

const MINUTE = 60_000;
const RESUMED_AGE = 60 * MINUTE;
/** Limit on offerings tried per call; the rest is left to the next call. */
const MAX_ATTEMPTS = 10;

export class AzureCloudProvider implements CloudProvider {
  readonly name = 'azure';
  readonly nodeClasses = [Kinds.AKSNodeClass];
  readonly repairPolicies: readonly RepairPolicy[] = [
    { conditionType: 'Ready', conditionStatus: 'False', toleration: 10 * MINUTE },
    { conditionType: 'Ready', conditionStatus: 'Unknown', toleration: 10 * MINUTE },
    { conditionType: 'kubernetes.azure.com/NodeHealthy', conditionStatus: 'False', toleration: 0 },
    { conditionType: 'PreemptionScheduled', conditionStatus: 'True', toleration: 0, isLeaving: true },
    // Scheduled Events of the instance, as reported by AKS's node problem detector. Freezes and reboots are not listed:
    // the node comes back.
    {
      conditionType: 'VMEventScheduled',
      conditionStatus: 'True',
      reasons: ['PreemptScheduled', 'TerminateScheduled', 'RedeployScheduled'],
      toleration: 0,
      isLeaving: true,
    },
  ];
  readonly nodeClass: AzureNodeClass;
  readonly refreshes: Refreshes;
  readonly leftovers: LeftoverInterfaces;
  readonly inPlaceUpdates: InPlaceUpdates;
  readonly learned: LearnedAllocatable;
  private isResumed = false;
  private readonly imageErrors: Counter;
  private readonly parts: AzureCloudProviderParts;

  constructor(parts: AzureCloudProviderParts) {
    this.parts = parts;
    this.nodeClass = parts.nodeClass;
    this.refreshes = parts.refreshes;
    this.leftovers = parts.leftovers;
    this.inPlaceUpdates = parts.inPlaceUpdates;
    this.learned = parts.learned;
    this.imageErrors = parts.metrics.counter({
      name: 'karpenter_image_selection_error_count',
      help: 'The number of errors encountered while selecting an image.',
      labels: ['family'],
    });
  }

  /** Offerings that recently failed, for display. */
  get unavailableOfferings(): ReturnType<UnavailableOfferings['entries']> {
    return this.parts.unavailable.entries();
  }

  async instanceTypes(_pool: NodePool, nodeClass: AksNodeClass): Promise<readonly InstanceType[]> {
    return this.parts.types.list(nodeClass);
  }

  quotas(unlaunched: readonly NodeClaim[]): ReadonlyMap<string, QuotaFigure> {
    const { skus, quota } = this.parts;
    const planned = unlaunched.flatMap((claim): [string, QuotaNeed][] => {
      const { instanceType, capacityType } = firstPlanned(claim) ?? {};
      const sku = instanceType === undefined ? undefined : skus.find(instanceType);
      if (sku === undefined || (capacityType !== 'on-demand' && capacityType !== 'spot')) return [];
      return [[claim.metadata.name, quotaNeed(sku, capacityType)]];
    });
    return quota.figures(new Map(planned));
  }

  /** An offering refused by Azure is avoided from then on, and the next best is tried at once. */
  async create(request: LaunchRequest<AksNodeClass>, signal?: AbortSignal): Promise<Instance> {
    const { claim, nodeClass } = request;
    const { images, kubernetesVersion } = readyStatus(nodeClass);
    const existing = await this.adopt(claim, nodeClass, kubernetesVersion, signal);
    if (existing !== undefined) return existing;
    for (let attempt = 1; ; attempt += 1) {
      const purchase = purchaseFor(request, this.parts.types.list(nodeClass));
      const choice: Choice = { claim, nodeClass, ...purchase, kubernetesVersion };
      try {
        return await this.launch(choice, images, request.onFailure, signal);
      } catch (error) {
        if (!isOfferingFailure(error) || attempt >= MAX_ATTEMPTS || signal?.aborted === true) throw error;
        const { type, offering } = purchase;
        this.parts.log.info('Azure refused an offering; trying the next one', {
          NodeClaim: claim.metadata.name,
          'instance-type': type.name,
          zone: offering.zone,
          'capacity-type': offering.capacityType,
          error,
        });
      }
    }
  }

  async delete(claim: NodeClaim, signal?: AbortSignal): Promise<void> {
    const { instances, tracker } = this.parts;
    for (const name of instances.namesOf(claim)) tracker.forget(name);
    if ((await instances.remove(claim, signal)) === 'gone') throw new InstanceNotFoundError(claim.metadata.name);
  }

  async get(providerID: string, signal?: AbortSignal): Promise<Instance> {
    const record = await this.parts.instances.find(providerID, signal);
    if (record === undefined) throw new InstanceNotFoundError(providerID);
    return this.describe(record);
  }

  async list(signal?: AbortSignal): Promise<readonly Instance[]> {
    const records = await this.parts.instances.list(signal);
    this.resumeLaunches(records, signal);
    return records.map((record) => this.describe(record));
  }

  async driftReason(
    { claim, nodeClass, node }: DriftSubject<AksNodeClass>,
    signal?: AbortSignal,
  ): Promise<string | undefined> {
    if (claim.metadata.labels?.[Labels.nodePool] === undefined) return undefined;
    const { settings, instances } = this.parts;
    return driftOf({ claim, nodeClass, node }, settings, () => instances.driftActionOf(claim, signal));
  }

  /** The instance launched by an earlier call for this claim, if any. */
  private async adopt(
    claim: NodeClaim,
    nodeClass: AksNodeClass,
    kubernetesVersion: string,
    signal: AbortSignal | undefined,
  ): Promise<Instance | undefined> {
    const { launcher, types, settings } = this.parts;
    const record = await launcher.find(claim, signal);
    if (record === undefined) return undefined;
    if (!['Creating', 'Updating', 'Succeeded'].includes(record.state)) {
      if (record.state !== 'Deleting') await launcher.discard(record, signal);
      const { name: machine, state } = record;
      throw new LaunchError('CreateInstanceFailed', launchDetail('EarlierAttempt', { machine, state }));
    }
    // The earlier process may have ended before the instance ran, or before its extensions were installed.
    launcher.resume(record, signal);
    const type = types.list(nodeClass).find((candidate) => candidate.name === record.size);
    const offering = type?.offerings.find((candidate) => isOfferingOf(candidate, record, settings.location));
    if (type === undefined || offering === undefined) return this.describe(record);
    return this.launched({ claim, nodeClass, type, offering, kubernetesVersion }, record);
  }

  private async launch(
    choice: Choice,
    images: readonly NodeImage[],
    onFailure: LaunchRequest['onFailure'],
    signal: AbortSignal | undefined,
  ): Promise<Instance> {
    const { settings, skus, types, unavailable, quota, reservations, launcher, clock } = this.parts;
    const { nodeClass, type, offering } = choice;
    const sku = skus.find(type.name);
    const image = selectImage(images, type);
    const { name: instanceType } = type;
    if (sku === undefined) {
      throw new LaunchError('InstanceTypeResolutionFailed', launchDetail('NoLongerSold', { instanceType }));
    }
    if (image === undefined) {
      this.imageErrors.inc({ family: nodeClass.spec?.imageFamily ?? 'Ubuntu' });
      const detail = launchDetail('NoImage', { nodeClass: nodeClass.metadata.name, instanceType });
      throw new LaunchError('CreateInstanceFailed', detail);
    }
    const interpret = (error: unknown): Error => {
      // A failure of a reservation says nothing about unreserved capacity.
      const marks = offering.reservationId === undefined ? unavailable : new UnavailableOfferings(clock);
      const attempted = { sku, offering, location: settings.location, isAksMachine: createsAksMachines(settings) };
      const known = interpretLaunchFailure(error, attempted, marks);
      if (offering.reservationId !== undefined && isOfferingFailure(known))
        reservations?.exhaust(offering.reservationId);
      return known;
    };
    const reserved = this.reservationOf(offering);
    // The quota of a reservation was used when it was created.
    const hold = offering.quotaNeed && quota.hold(offering.quotaNeed, choice.claim.metadata.name);
    const unreserve = reserved && reservations?.hold(reserved.id);
    const giveBack = (): void => {
      hold?.release();
      unreserve?.();
    };
    const failed = (error: unknown): void => {
      giveBack();
      const known = interpret(error);
      onFailure?.(known);
    };
    const reservationGroup = reserved?.group;
    const shape = types.shapeOf(sku, nodeClass);
    try {
      const record = await launcher.launch({ choice, sku, image, shape, reservationGroup, onFailure: failed }, signal);
      hold?.accepted();
      return this.launched(choice, record);
    } catch (error) {
      giveBack();
      if (signal?.aborted === true || error instanceof LaunchError) throw error;
      throw interpret(error);
    }
  }

  private reservationOf({ reservationId }: Offering): Reservation | undefined {
    return reservationId === undefined ? undefined : this.parts.reservations?.find(reservationId);
  }

  /** Once per process: resumes launches of an earlier process. Only young instances can be unfinished. */
  private resumeLaunches(records: readonly InstanceRecord[], signal: AbortSignal | undefined): void {
    if (this.isResumed) return;
    this.isResumed = true;
    const oldest = this.parts.clock.now() - RESUMED_AGE;
    for (const record of records) {
      if ((record.createdAt ?? 0) > oldest) this.parts.instances.launcherOf(record)?.resume(record, signal);
    }
  }

  private launched(choice: Choice, record: InstanceRecord): Instance {
    const { claim, nodeClass, type } = choice;
    const described = this.describe(record);
    return {
      ...described,
      labels: { ...claimLabels(choice), ...poolLabel(record) },
      annotations: {
        ...described.annotations,
        [Annotations.aksNodeClassHash]: aksNodeClassHash(nodeClass),
        [Annotations.aksNodeClassHashVersion]: AKS_NODE_CLASS_HASH_VERSION,
        [Annotations.inPlaceUpdateHash]: this.inPlaceUpdates.hashFor(claim, nodeClass, record.aksMachine !== undefined),
      },
      capacity: nonZero(type.capacity),
      allocatable: nonZero(type.allocatable),
    };
  }

  /** Facts about an instance without its claim and class. */
  private describe(record: InstanceRecord): Instance {
    const { settings } = this.parts;
    const { claimName, aksMachine } = record;
    return {
      providerID: providerIdOf(record.id),
      ...(claimName === undefined ? {} : { claimName }),
      ...(record.imageId === undefined ? {} : { imageID: record.imageId }),
      labels: {
        [Labels.instanceType]: record.size,
        [Labels.zone]: zoneLabel(settings.location, record.zone ?? REGIONAL_ZONE),
        [Labels.capacityType]: capacityTypeOf(record),
        ...poolLabel(record),
      },
      annotations: aksMachine === undefined ? {} : { [Annotations.aksMachineResourceId]: aksMachine.id },
      capacity: {},
      allocatable: {},
      ...(record.createdAt === undefined ? {} : { createdAt: record.createdAt }),
      ...(record.state === 'Deleting' ? { deleting: true } : {}),
    };
  }
}

/** Fields of the class's status needed for a launch; throws when the class is not ready for its current spec. */
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
    throw new LaunchError(Reasons.nodeClassReadinessUnknown, launchDetail('StaleNodeClass', { nodeClass: name }));
  }
  return { images, kubernetesVersion };
}

function isOfferingOf(offering: Offering, record: InstanceRecord, location: string): boolean {
  return (
    offering.zone === zoneLabel(location, record.zone ?? REGIONAL_ZONE) &&
    offering.capacityType === capacityTypeOf(record)
  );
}

function poolLabel({ tags }: InstanceRecord): Readonly<Record<string, string>> {
  const pool = tags[ManagedTags.nodePool];
  return pool === undefined ? {} : { [Labels.nodePool]: pool };
}

function capacityTypeOf({ spot, reserved = false }: InstanceRecord): Offering['capacityType'] {
  if (spot) return 'spot';
  return reserved ? 'reserved' : 'on-demand';
}

function nonZero(resources: Resources): Record<string, string> {
  return formatResources(Object.fromEntries(Object.entries(resources).filter(([, amount]) => !amount.isZero())));
}
