/**
 * The cloud port without a cloud: an instance is just a Node object, on any Kubernetes. A kwok controller or
 * `nodewright kubelet-sim` makes it ready.
 */
import { READY } from '../api/conditionTypes.ts';
import { Kinds, type Node } from '../api/kinds.ts';
import type { KwokNodeClass } from '../api/kinds/kwokNodeClass.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import type { NodePool } from '../api/kinds/nodePool.ts';
import { Labels } from '../api/labels.ts';
import type { Clock } from '../clock/clock.ts';
import type { CloudProvider, Instance, LaunchRequest, RepairPolicy } from '../cloud/cloudProvider.ts';
import { InstanceNotFoundError, InsufficientCapacityError, NodeClassNotReadyError } from '../cloud/errors.ts';
import type { InstanceType } from '../cloud/instanceType.ts';
import { purchaseFor, type Purchase } from '../cloud/offeringChoice.ts';
import { launchDetail } from '../errors/launchProblems.ts';
import { isAlreadyExists, isForbidden, isInvalid, isNotFound } from '../kube/errors.ts';
import type { Kube } from '../kube/kube.ts';
import type { Log } from '../kube/log.ts';
import { formatResources } from '../units/resources.ts';
import { PROVIDER_PREFIX } from './kwokLabels.ts';
import { instanceLabels, nodeName, nodeOf } from './nodeObject.ts';
import { registrationDelay } from './registrationDelay.ts';
import { Reservations } from './reservations.ts';

export interface KwokCloudProviderOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly log: Log;
  readonly instanceTypes: readonly InstanceType[];
}

const TEN_MINUTES = 10 * 60_000;
const CREATE_ATTEMPTS = 5;
const CREATE_RETRY = 1_000;
const LIST_PAGE = 500;

export class KwokCloudProvider implements CloudProvider {
  readonly name = 'kwok';
  readonly nodeClasses = [Kinds.KWOKNodeClass];
  readonly repairPolicies: readonly RepairPolicy[] = [
    { conditionType: READY, conditionStatus: 'False', toleration: TEN_MINUTES },
    { conditionType: READY, conditionStatus: 'Unknown', toleration: TEN_MINUTES },
  ];
  private readonly options: KwokCloudProviderOptions;
  private readonly reservations: Reservations;
  private lastPurchase: Promise<void> = Promise.resolve();
  /** By Node name: instances bought that have not joined yet. */
  private readonly booting = new Map<string, { readonly purchase: Purchase; readonly cancel: () => void }>();

  constructor(options: KwokCloudProviderOptions) {
    this.options = options;
    this.reservations = new Reservations(options.instanceTypes);
  }

  async create(request: LaunchRequest<KwokNodeClass>, signal?: AbortSignal): Promise<Instance> {
    const { claim, nodeClass } = request;
    const ready = nodeClass.status?.conditions?.find(({ type }) => type === READY);
    if (ready?.status === 'False') {
      throw new NodeClassNotReadyError(`KWOKNodeClass ${nodeClass.metadata.name}`, ready.message ?? 'is not ready');
    }
    if (!namesInstanceTypes(claim)) {
      throw new InsufficientCapacityError(launchDetail('NoTypeNamed', { claim: claim.metadata.name }));
    }
    const existing = await this.find(nodeName(claim), signal);
    if (existing) return instanceOf(existing);
    const delay = registrationDelay(nodeClass, claim);
    const buy = (): Promise<Instance> => this.buy(request, delay, signal);
    // With reservations, buy one after the other, so that two launches do not use the last unit.
    if (!this.reservations.any) return buy();
    const bought = this.lastPurchase.then(buy);
    this.lastPurchase = bought.then(
      () => undefined,
      () => undefined,
    );
    return bought;
  }

  /** The Node is the instance: nothing else remains after its deletion. */
  async delete(claim: NodeClaim, signal?: AbortSignal): Promise<void> {
    const name = claim.status?.providerID?.slice(PROVIDER_PREFIX.length) || nodeName(claim);
    this.booting.get(name)?.cancel();
    const node = await this.find(name, signal);
    if (!node) throw new InstanceNotFoundError(`Node ${name}`);
    await this.options.kube.delete(Kinds.Node, { name }, signal && { signal }).catch(rethrowUnlessMissing);
  }

  async get(providerID: string, signal?: AbortSignal): Promise<Instance> {
    const node = await this.find(providerID.slice(PROVIDER_PREFIX.length), signal);
    if (!node || !providerID.startsWith(PROVIDER_PREFIX)) throw new InstanceNotFoundError(providerID);
    return instanceOf(node);
  }

  async list(signal?: AbortSignal): Promise<readonly Instance[]> {
    const { kube } = this.options;
    const instances: Instance[] = [];
    let next: string | undefined;
    do {
      const page = await kube.list(Kinds.Node, {
        limit: LIST_PAGE,
        ...(next && { continue: next }),
        ...(signal && { signal }),
      });
      instances.push(...page.items.filter(({ spec }) => spec?.providerID?.startsWith(PROVIDER_PREFIX)).map(instanceOf));
      next = page.metadata.continue;
    } while (next);
    return instances;
  }

  async instanceTypes(
    _pool: NodePool,
    _nodeClass: KwokNodeClass,
    signal?: AbortSignal,
  ): Promise<readonly InstanceType[]> {
    return this.forSale(signal);
  }

  async driftReason(): Promise<string | undefined> {
    return undefined;
  }

  private async buy(
    request: LaunchRequest<KwokNodeClass>,
    delay: number,
    signal: AbortSignal | undefined,
  ): Promise<Instance> {
    const { claim } = request;
    const purchase = purchaseFor(request, await this.forSale(signal));
    if (delay > 0 || !(await this.joinNow(claim, purchase))) this.joinLater(claim, purchase, delay || CREATE_RETRY);
    const { type } = purchase;
    return {
      providerID: `${PROVIDER_PREFIX}${nodeName(claim)}`,
      claimName: claim.metadata.name,
      labels: instanceLabels(purchase),
      annotations: {},
      capacity: formatResources(type.capacity),
      allocatable: formatResources(type.allocatable),
      createdAt: this.options.clock.now(),
    };
  }

  /** The catalogue minus used reservations; instances are counted only if there are reservations. */
  private async forSale(signal: AbortSignal | undefined): Promise<readonly InstanceType[]> {
    if (!this.reservations.any) return this.options.instanceTypes;
    const joined = (await this.list(signal)).map(({ labels }) => labels);
    const booting = [...this.booting.values()].map(({ purchase }) => instanceLabels(purchase));
    return this.reservations.left([...joined, ...booting]);
  }

  /** False when the API server rejects the Node: this simulates an instance that runs and cannot join. */
  private async joinNow(claim: NodeClaim, purchase: Purchase): Promise<boolean> {
    const { kube, log } = this.options;
    try {
      await ignoreExisting(kube.create(Kinds.Node, nodeOf(claim, purchase)));
      return true;
    } catch (error) {
      if (!isForbidden(error) && !isInvalid(error)) throw error;
      log.error('the Node of a kwok instance is refused', { Node: nodeName(claim), error });
      return false;
    }
  }

  private joinLater(claim: NodeClaim, purchase: Purchase, delay: number, attempt = 1): void {
    const { kube, clock, log } = this.options;
    const name = nodeName(claim);
    this.booting.get(name)?.cancel();
    const stop = clock.after(delay, () => {
      this.booting.delete(name);
      clock.track(ignoreExisting(kube.create(Kinds.Node, nodeOf(claim, purchase)))).catch((error: unknown) => {
        log.error('cannot create the Node of a kwok instance', { Node: name, attempt, error });
        if (attempt < CREATE_ATTEMPTS) this.joinLater(claim, purchase, CREATE_RETRY * 2 ** attempt, attempt + 1);
      });
    });
    const cancel = (): void => {
      stop();
      this.booting.delete(name);
    };
    this.booting.set(name, { purchase, cancel });
  }

  private async find(name: string, signal: AbortSignal | undefined): Promise<Node | undefined> {
    try {
      const node = await this.options.kube.get(Kinds.Node, { name }, signal && { signal });
      return node.metadata.deletionTimestamp ? undefined : node;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}

/** As in upstream: claims for kwok must list instance types. */
function namesInstanceTypes({ spec }: NodeClaim): boolean {
  return spec.requirements.some(
    ({ key, operator, values = [] }) => key === Labels.instanceType && operator === 'In' && values.length > 0,
  );
}

function instanceOf({ metadata, spec, status }: Node): Instance {
  const claimName = metadata.labels?.[Labels.hostname];
  return {
    providerID: spec?.providerID ?? '',
    ...(claimName && { claimName }),
    labels: { ...metadata.labels },
    annotations: {},
    capacity: { ...status?.capacity },
    allocatable: { ...status?.allocatable },
    ...(metadata.creationTimestamp && { createdAt: Date.parse(metadata.creationTimestamp) }),
    ...(metadata.deletionTimestamp && { deleting: true }),
  };
}

async function ignoreExisting(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

function rethrowUnlessMissing(error: unknown): void {
  if (!isNotFound(error)) throw error;
}
