/**
 * Follows the local world for those who watch it. In: the world's API, its faults and the prices of its cloud. Out: the
 * facts of a moment, and the decisions that nodewright made, in words.
 */
import { Kinds, type Node, type Pod } from '../../api/kinds.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import { Labels } from '../../api/labels.ts';
import type { Clock } from '../../clock/clock.ts';
import { systemRandom } from '../../clock/systemRandom.ts';
import type { CloudProvider } from '../../cloud/cloudProvider.ts';
import { isProvisionable } from '../../pods/podPredicates.ts';
import { Informers, type Informer } from '../../kube/informer.ts';
import type { Kube } from '../../kube/kube.ts';
import { describeFault, type Faults } from '../../local/faults/faults.ts';
import { podRequests } from '../../pods/podRequests.ts';
import { Quantity } from '../../units/quantity.ts';
import { quantityOf } from '../../units/resources.ts';
import type { NodeRow, WaitingRow, WorldFacts } from './worldPicture.ts';

const BY_NODE = 'observer.nodeName';
const REMEMBERED = 200;
const PRICES_EVERY = 30_000;

export interface WorldObserverOptions {
  readonly kube: Kube;
  readonly cloud: CloudProvider;
  readonly clock: Clock;
  readonly faults: Faults;
  readonly title: string;
  readonly hints: readonly string[];
  /** The first line among the decisions. */
  readonly opening?: string;
  /** Told of every decision as it is made. */
  readonly onDecision?: (line: string) => void;
}

export class WorldObserver {
  private readonly options: WorldObserverOptions;
  private readonly informers: Informers;
  private readonly nodes: Informer<Node>;
  private readonly pods: Informer<Pod>;
  private readonly claims: Informer<NodeClaim>;
  private readonly decisions: string[] = [];
  private readonly bought = new Set<string>();
  private prices = new Map<string, number>();
  /** What was there before is no news. */
  private isSynced = false;
  private pricedAt = Number.NEGATIVE_INFINITY;

  constructor(options: WorldObserverOptions) {
    const { kube, clock } = options;
    this.options = options;
    if (options.opening !== undefined) this.decisions.push(`${this.time()}  ${options.opening}`);
    this.informers = new Informers({ kube, clock, random: systemRandom });
    this.nodes = this.informers.of(Kinds.Node);
    this.pods = this.informers.of(Kinds.Pod, {
      indexes: { [BY_NODE]: ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []) },
    });
    this.claims = this.informers.of(Kinds.NodeClaim);
    this.claims.subscribe((event) => this.onClaim(event.type, event.object));
    options.faults.subscribe(({ type, fault, target }) => {
      if (type === 'began') this.decide(`fault ${describeFault(fault)}`);
      if (type === 'struck' && fault.struck <= 3) this.decide(`fault ${fault.order.kind} strikes ${target ?? ''}`);
    });
  }

  /** Follows the world until the signal aborts; the first picture is there when `synced` resolves. */
  run(signal: AbortSignal): Promise<void> {
    return this.informers.run(signal);
  }

  async synced(signal: AbortSignal): Promise<void> {
    await this.informers.synced(signal);
    this.isSynced = true;
  }

  async facts(signal: AbortSignal): Promise<WorldFacts> {
    await this.refreshPrices(signal);
    const { title, hints, faults } = this.options;
    const nodes = [...this.nodes.store.list()].map((node) => this.row(node));
    let running = 0;
    const waiting: Pod[] = [];
    for (const pod of this.pods.store.list()) {
      if (pod.status?.phase === 'Running') running++;
      else if (isProvisionable(pod)) waiting.push(pod);
    }
    return {
      title,
      time: this.time(),
      nodes: nodes.sort((left, right) => (left.name < right.name ? -1 : 1)),
      running,
      waiting: groupWaiting(waiting),
      faults: faults.list().map(describeFault),
      decisions: this.decisions,
      hints,
    };
  }

  private row(node: Node): NodeRow {
    const { name, labels = {}, deletionTimestamp } = node.metadata;
    const pods = this.pods.store
      .byIndex(BY_NODE, name)
      .filter(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed');
    const filled = (resource: string): number => {
      const whole = Quantity.tryParse(node.status?.allocatable?.[resource] ?? '0')?.milliValue() ?? 0;
      const used = pods.reduce((sum, pod) => sum + quantityOf(podRequests(pod), resource).milliValue(), 0);
      return whole === 0 ? 0 : used / whole;
    };
    const ready = node.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
    return {
      name,
      size: labels[Labels.instanceType] ?? '?',
      zone: labels[Labels.zone] ?? '?',
      capacityType: labels[Labels.capacityType] ?? '?',
      price: this.prices.get(offeringKey(labels)),
      state: deletionTimestamp ? 'leaving' : ready === 'True' ? 'ready' : ready === 'Unknown' ? 'lost' : 'joining',
      cpu: filled('cpu'),
      memory: filled('memory'),
      pods: pods.length,
    };
  }

  private onClaim(type: 'added' | 'updated' | 'deleted', claim: NodeClaim): void {
    const { name, labels = {}, deletionTimestamp } = claim.metadata;
    const size = labels[Labels.instanceType];
    if (type === 'deleted') {
      if (this.bought.delete(name)) this.decide(`${name} is gone`);
      return;
    }
    if (claim.status?.providerID && size && !this.bought.has(name)) {
      this.bought.add(name);
      if (!this.isSynced) return;
      const price = this.prices.get(offeringKey(labels));
      const where = `${labels[Labels.zone] ?? ''} ${labels[Labels.capacityType] ?? ''}`;
      this.decide(
        `buys ${size} in ${where}${price === undefined ? '' : ` at $${price.toFixed(3)}/h`} for ${labels[Labels.nodePool] ?? 'a pool'}: ${name}`,
      );
    }
    if (deletionTimestamp && this.bought.has(name) && !this.bought.has(`${name} leaves`)) {
      this.bought.add(`${name} leaves`);
      this.decide(`gives ${name} back`);
    }
    if (this.bought.size > 20_000) this.bought.clear();
  }

  private decide(what: string): void {
    const line = `${this.time()}  ${what}`;
    this.decisions.push(line);
    if (this.decisions.length > REMEMBERED) this.decisions.shift();
    this.options.onDecision?.(line);
  }

  private async refreshPrices(signal: AbortSignal): Promise<void> {
    const { clock, cloud, kube } = this.options;
    if (clock.now() - this.pricedAt < PRICES_EVERY) return;
    const prices = new Map<string, number>();
    for (const pool of (await kube.list(Kinds.NodePool, { signal })).items) {
      for (const type of await cloud.instanceTypes(pool, signal)) {
        for (const { zone, capacityType, price } of type.offerings)
          prices.set(`${type.name} ${zone} ${capacityType}`, price);
      }
    }
    this.prices = prices;
    this.pricedAt = clock.now();
  }

  private time(): string {
    return new Date(this.options.clock.now()).toISOString().slice(11, 19);
  }
}

const offeringKey = (labels: Readonly<Record<string, string>>): string =>
  `${labels[Labels.instanceType]} ${labels[Labels.zone]} ${labels[Labels.capacityType]}`;

/** What a person calls it: the Deployment rather than its ReplicaSet. */
function ownerOf({ metadata }: Pod): string {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller);
  return owner?.kind === 'ReplicaSet' ? owner.name.replace(/-[a-z0-9]+$/, '') : (owner?.name ?? metadata.name);
}

function groupWaiting(pods: readonly Pod[]): WaitingRow[] {
  const groups = new Map<string, { count: number; reason: string }>();
  for (const pod of pods) {
    const owner = ownerOf(pod);
    const group = groups.get(owner) ?? { count: 0, reason: '' };
    group.count++;
    const message = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message ?? '';
    // What the scheduler adds about preemption says nothing more to somebody who watches.
    group.reason ||= message.replace(/ no new claims to deallocate, .*$/, '');
    groups.set(owner, group);
  }
  return [...groups].map(([owner, group]) => ({ owner, ...group })).sort((left, right) => right.count - left.count);
}
