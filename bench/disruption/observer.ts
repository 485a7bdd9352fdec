/** A cluster's cost and activity over time, observed through its API server: bill, launches, and the last change. */
import { Kinds, type Node, type Pod } from '../../src/api/kinds.ts';
import { Annotations, Labels, Taints } from '../../src/api/labels.ts';
import type { Clock } from '../../src/clock/clock.ts';
import { Informers } from '../../src/kube/informer.ts';
import { priceOf } from '../../src/disruption/costs.ts';
import { typesByName } from '../../src/disruption/candidate.ts';
import { defaultCatalogue } from '../../src/kwok/defaultCatalogue.ts';
import type { Plane } from './plane.ts';

const FIVE_MINUTES = 5 * 60_000;
const TYPES = typesByName(defaultCatalogue());

/** Dollars per hour, by instance type, because not all nodes have a price annotation. */
function pricePerHour({ metadata }: Node): number {
  const { labels = {} } = metadata;
  return priceOf(TYPES.get(labels[Labels.instanceType] ?? ''), labels[Labels.zone], labels[Labels.capacityType]);
}

export class Observer {
  private readonly stop = new AbortController();
  private readonly nodes = new Map<string, { readonly price: number; readonly since: number }>();
  private readonly pods = new Map<string, Pod>();
  private readonly leaving = new Set<string>();
  private readonly clock: Clock;
  private changedAt: number;
  private paid = 0;
  private paidUntil: number;
  private waited = 0;
  launches = 0;
  /** Pods that were asked to end although their owner wanted them, and how many of them were younger than 5 minutes. */
  evictions = 0;
  youngEvictions = 0;
  /** Nodes that lived for less than 5 minutes. */
  shortLives = 0;
  /** Pods with do-not-disrupt that were evicted. */
  violations = 0;
  /** The largest share of nodes being removed at once. */
  mostLeaving = 0;

  constructor(clock: Clock) {
    this.clock = clock;
    this.changedAt = clock.now();
    this.paidUntil = clock.now();
  }

  async start({ kube, random }: Pick<Plane, 'kube' | 'random'>): Promise<void> {
    const { clock } = this;
    const informers = new Informers({ kube, clock, random });
    informers
      .of(Kinds.Node)
      .subscribe(({ type, object }) => (type === 'deleted' ? this.gone(object) : this.seen(object)));
    informers.of(Kinds.Pod, { namespace: 'default' }).subscribe((event) => {
      const { object } = event;
      this.pay();
      if (event.type === 'deleted') this.pods.delete(object.metadata.name);
      else this.pods.set(object.metadata.name, object);
      if (event.type === 'updated' && isEvicted(object) && !isEvicted(event.old)) {
        this.evictions += 1;
        if (object.metadata.annotations?.[Annotations.doNotDisrupt]) this.violations += 1;
        if (clock.now() - Date.parse(object.metadata.creationTimestamp ?? '') < FIVE_MINUTES) this.youngEvictions += 1;
      }
    });
    void informers.run(this.stop.signal);
    await informers.synced();
    this.reset();
  }

  /** Counts from now on. */
  reset(): void {
    this.pay();
    Object.assign(this, { paid: 0, waited: 0, launches: 0, evictions: 0, youngEvictions: 0 });
    Object.assign(this, { shortLives: 0, violations: 0, mostLeaving: 0 });
    this.touch();
  }

  /** Records activity, whether or not nodes change because of it. */
  touch(): void {
    this.changedAt = this.clock.now();
  }

  /** Dollars per hour. */
  get bill(): number {
    return [...this.nodes.values()].reduce((sum, { price }) => sum + price, 0);
  }

  get nodeCount(): number {
    return this.nodes.size;
  }

  /** Dollar hours since the last reset. */
  get spent(): number {
    this.pay();
    return this.paid;
  }

  /** Seconds that pods have waited for a node, in all. */
  get pendingPodSeconds(): number {
    this.pay();
    return this.waited;
  }

  get running(): number {
    return [...this.pods.values()].filter(
      ({ status, metadata }) => status?.phase === 'Running' && !metadata.deletionTimestamp,
    ).length;
  }

  /** Milliseconds since nodes last came or went. */
  get quietFor(): number {
    return this.clock.now() - this.changedAt;
  }

  get lastChange(): number {
    return this.changedAt;
  }

  end(): void {
    this.stop.abort();
  }

  private seen(node: Node): void {
    const { metadata, spec } = node;
    if (spec?.taints?.some(({ key }) => key === Taints.disrupted.key)) this.leaving.add(metadata.name);
    else this.leaving.delete(metadata.name);
    this.mostLeaving = Math.max(this.mostLeaving, this.leaving.size / Math.max(1, this.nodes.size));
    if (this.nodes.has(metadata.name)) return;
    this.pay();
    this.launches += 1;
    this.changedAt = this.clock.now();
    this.nodes.set(metadata.name, { price: pricePerHour(node), since: this.clock.now() });
  }

  private gone({ metadata }: Node): void {
    const node = this.nodes.get(metadata.name);
    this.leaving.delete(metadata.name);
    if (node === undefined) return;
    this.pay();
    this.changedAt = this.clock.now();
    if (this.clock.now() - node.since < FIVE_MINUTES) this.shortLives += 1;
    this.nodes.delete(metadata.name);
  }

  private pay(): void {
    const now = this.clock.now();
    const hours = (now - this.paidUntil) / 3_600_000;
    this.paid += this.bill * hours;
    this.waited += [...this.pods.values()].filter(({ spec }) => !spec?.nodeName).length * hours * 3_600;
    this.paidUntil = now;
  }
}

/** The eviction API leaves this condition behind; a pod that its owner deletes has none. */
const isEvicted = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp !== undefined &&
  (status?.conditions ?? []).some(
    ({ type, reason }) => type === 'DisruptionTarget' && reason === 'EvictionByEvictionAPI',
  );
