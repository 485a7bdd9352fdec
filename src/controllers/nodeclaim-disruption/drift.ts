/** Whether an instance still matches its pool and its node class. */
import { Reasons } from '../../api/conditionTypes.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import type { NodePool } from '../../api/kinds/nodePool.ts';
import { CapacityTypes, Labels } from '../../api/labels.ts';
import type { Clock } from '../../clock/clock.ts';
import type { CloudProvider } from '../../cloud/cloudProvider.ts';
import type { InstanceType } from '../../cloud/instanceType.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { Requirement } from '../../constraints/requirement.ts';
import { Requirements } from '../../constraints/requirements.ts';
import { poolDriftReason } from '../../disruption/poolDrift.ts';
import { expiresAt, isForceful } from '../claims/expiry.ts';
import type { ClusterInformers } from '../world/clusterInformers.ts';
import { poolInstanceTypes, usableNodeClass } from '../world/nodeClassOfPool.ts';
import type { World } from '../world/world.ts';

/** A younger claim was launched from the current catalogue. */
const CATALOGUE_GRACE = 60 * 60_000;
/** How long an instance type found in the catalogue is not looked up again. */
const CATALOGUE_INTERVAL = 30 * 60_000;

export class DriftDetector {
  private readonly cloud: CloudProvider;
  private readonly cluster: Cluster;
  private readonly informers: ClusterInformers;
  private readonly clock: Clock;
  /** When each claim was last found in the catalogue, by its UID. */
  private readonly foundAt = new Map<string, number>();

  constructor({ cloud, cluster, informers, clock }: Pick<World, 'cloud' | 'cluster' | 'informers' | 'clock'>) {
    this.cloud = cloud;
    this.cluster = cluster;
    this.informers = informers;
    this.clock = clock;
  }

  forget(uid: string): void {
    this.foundAt.delete(uid);
  }

  /** The first reason, cheap checks first; undefined when there is none. Without its class, the cloud is not asked. */
  async reasonOf(claim: NodeClaim, pool: NodePool, signal: AbortSignal): Promise<string | undefined> {
    const fromPool = poolDriftReason(claim, pool);
    if (fromPool !== undefined) return fromPool;
    if (this.isExpired(claim, pool)) return Reasons.expired;
    const nodeClass = usableNodeClass(claim.spec.nodeClassRef, this.informers);
    if (nodeClass === undefined) return undefined;
    if (await this.isDelisted(claim, pool, signal)) return Reasons.instanceTypeNotFound;
    const node = this.cluster.nodesByProviderID(claim.status?.providerID).at(-1);
    return this.cloud.driftReason({ claim, nodeClass, node }, signal);
  }

  /** A claim with forceful expiration is removed by another loop. */
  private isExpired(claim: NodeClaim, pool: NodePool): boolean {
    return !isForceful(claim, pool) && (expiresAt(claim) ?? Number.POSITIVE_INFINITY) <= this.clock.now();
  }

  private async isDelisted(claim: NodeClaim, pool: NodePool, signal: AbortSignal): Promise<boolean> {
    const now = this.clock.now();
    const { uid = claim.metadata.name, creationTimestamp = '' } = claim.metadata;
    if (now - Date.parse(creationTimestamp) <= CATALOGUE_GRACE) return false;
    if (now - (this.foundAt.get(uid) ?? Number.NEGATIVE_INFINITY) < CATALOGUE_INTERVAL) return false;
    if (!isOnSale(claim, await poolInstanceTypes(pool, this.cloud, this.informers, signal))) return true;
    this.foundAt.set(uid, now);
    return false;
  }
}

/** Includes sold-out offerings: they are still known. */
function isOnSale({ metadata }: NodeClaim, types: readonly InstanceType[]): boolean {
  const type = types.find(({ name }) => name === metadata.labels?.[Labels.instanceType]);
  if (!type) return false;
  let labels = Requirements.fromLabels(metadata.labels);
  if (metadata.labels?.[Labels.capacityType] === CapacityTypes.reserved) {
    // A reservation may have lapsed although the label stayed; then the instance is on-demand.
    const either = [CapacityTypes.reserved, CapacityTypes.onDemand];
    labels = labels.replace(Requirement.of(Labels.capacityType, 'In', either));
  }
  return type.offerings.some(({ requirements }) => requirements.intersects(labels));
}
