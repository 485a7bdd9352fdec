/** Follows the local world and describes it as plain facts for the live view, with nodewright's decisions as text. */
import type { Ledger } from '../../ledger/ledger.ts';
import { objectionText } from '../../ledger/objectionText.ts';
import { reasonText } from '../../ledger/reasonText.ts';
import type { InstanceRecord } from '../../ledger/record.ts';
import { recordText } from '../../ledger/recordText.ts';
import { podKey } from '../../pods/podKey.ts';
import { Kinds, type Node, type Pod } from '../../api/kinds.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import { Labels } from '../../api/labels.ts';
import type { Clock } from '../../clock/clock.ts';
import { systemRandom } from '../../clock/systemRandom.ts';
import { isProvisionable } from '../../pods/podPredicates.ts';
import { Informers, type Informer } from '../../kube/informer.ts';
import type { Kube } from '../../kube/kube.ts';
import type { Log } from '../../kube/log.ts';
import { describeFault, type Faults } from '../../local/faults/faults.ts';
import { podRequests } from '../../pods/podRequests.ts';
import { Quantity } from '../../units/quantity.ts';
import { quantityOf } from '../../units/resources.ts';
import type { NodeRow, WaitingRow, WorldFacts } from './worldPicture.ts';

const BY_NODE = 'observer.nodeName';
const REMEMBERED = 200;
/** Limit on claims whose purchase was reported; beyond it, old ones are dropped. */
const MOST_CLAIMS = 20_000;

export interface WorldObserverOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly log: Log;
  readonly faults: Faults;
  /** Where nodewright records its decisions. */
  readonly ledger: Ledger;
  /** US dollars per hour of an instance type; undefined if not offered here. */
  readonly price: (instanceType: string, capacityType: string) => number | undefined;
  readonly title: string;
  readonly hints: readonly string[];
  /** The first line of the decisions. */
  readonly opening?: string;
  /** Called with every decision as it is made. */
  readonly onDecision?: (line: string) => void;
}

export class WorldObserver {
  private readonly options: WorldObserverOptions;
  private readonly informers: Informers;
  private readonly nodes: Informer<Node>;
  private readonly pods: Informer<Pod>;
  private readonly decisions: string[] = [];
  /** Claims with an instance, and those of them that are being deleted. */
  private readonly bought = new Set<string>();
  private readonly leaving = new Set<string>();
  /** Claims of the first list are not reported. */
  private isSynced = false;

  constructor(options: WorldObserverOptions) {
    const { kube, clock, log } = options;
    this.options = options;
    if (options.opening !== undefined) this.decisions.push(`${this.time()}  ${options.opening}`);
    this.informers = new Informers({
      kube,
      clock,
      random: systemRandom,
      onError: (error, kind) => log.error('watch interrupted; retrying', { kind: kind.kind, error }),
    });
    this.nodes = this.informers.of(Kinds.Node);
    this.pods = this.informers.of(Kinds.Pod, {
      indexes: { [BY_NODE]: ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []) },
    });
    this.informers.of(Kinds.NodeClaim).subscribe((event) => this.onClaim(event.type, event.object));
    options.ledger.subscribe((entry) => {
      const isNews = entry.kind === 'disruption' || entry.kind === 'drift';
      if (isNews || (entry.kind === 'disruption-end' && entry.outcome === 'taken-back')) this.decide(recordText(entry));
    });
    options.faults.subscribe(({ type, fault, target }) => {
      if (type === 'began') this.decide(`fault ${describeFault(fault)}`);
      if (type === 'struck' && fault.struck <= 3) this.decide(`fault ${fault.order.kind} strikes ${target ?? ''}`);
    });
  }

  /** Follows the world until the signal aborts; the first view is available when `synced` resolves. */
  run(signal: AbortSignal): Promise<void> {
    return this.informers.run(signal);
  }

  async synced(signal: AbortSignal): Promise<void> {
    await this.informers.synced(signal);
    this.isSynced = true;
  }

  facts(): WorldFacts {
    const { title, hints, faults } = this.options;
    const nodes = [...this.nodes.store.list()].map((node) => this.row(node));
    let running = 0;
    const waiting: Pod[] = [];
    for (const pod of this.pods.store.list()) {
      if (pod.status?.phase === 'Running') running++;
      else if (isProvisionable(pod)) waiting.push(pod);
    }
    const reasons = reasonsByPod(this.options.ledger);
    return {
      title,
      time: this.time(),
      nodes: nodes.sort((left, right) => (left.name < right.name ? -1 : 1)),
      running,
      waiting: groupWaiting(waiting, (pod) => reasons.get(podKey(pod)) ?? schedulerReason(pod)),
      faults: faults.list().map(describeFault),
      ...savingsIn(this.options.ledger),
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
      instanceType: labels[Labels.instanceType] ?? '?',
      zone: labels[Labels.zone] ?? '?',
      // Nodes of agent pools have no such label.
      capacityType: labels[Labels.capacityType] ?? labels[Labels.aksMode] ?? '?',
      price: this.priceOf(labels),
      state: deletionTimestamp ? 'leaving' : ready === 'True' ? 'ready' : ready === 'Unknown' ? 'lost' : 'joining',
      cpu: filled('cpu'),
      memory: filled('memory'),
      pods: pods.length,
    };
  }

  private priceOf(labels: Readonly<Record<string, string>>): number | undefined {
    return this.options.price(labels[Labels.instanceType] ?? '', labels[Labels.capacityType] ?? 'on-demand');
  }

  private onClaim(type: 'added' | 'updated' | 'deleted', claim: NodeClaim): void {
    const { name, labels = {}, deletionTimestamp } = claim.metadata;
    if (type === 'deleted') {
      this.leaving.delete(name);
      if (this.bought.delete(name)) this.report({ nodeClaim: name, state: 'gone' });
      return;
    }
    if (this.bought.size > MOST_CLAIMS) this.bought.clear();
    if (this.leaving.size > MOST_CLAIMS) this.leaving.clear();
    const instanceType = labels[Labels.instanceType];
    if (claim.status?.providerID && instanceType && !this.bought.has(name)) {
      this.bought.add(name);
      const price = this.priceOf(labels);
      const offering = {
        instanceType,
        zone: labels[Labels.zone] ?? '',
        capacityType: labels[Labels.capacityType] ?? '',
        ...(price !== undefined && { pricePerHour: price }),
      };
      if (this.isSynced) this.report({ nodeClaim: name, state: 'bought', offering });
    }
    if (deletionTimestamp && this.bought.has(name) && !this.leaving.has(name)) {
      this.leaving.add(name);
      this.report({ nodeClaim: name, state: 'leaving' });
    }
  }

  private report(record: Omit<InstanceRecord, 'kind'>): void {
    this.decide(recordText({ kind: 'instance', ...record }));
  }

  private decide(what: string): void {
    const line = `${this.time()}  ${what}`;
    this.decisions.push(line);
    if (this.decisions.length > REMEMBERED) this.decisions.shift();
    this.options.onDecision?.(line);
  }

  private time(): string {
    return new Date(this.options.clock.now()).toISOString().slice(11, 19);
  }
}

/** The name known to the user: the Deployment rather than its ReplicaSet. */
function ownerOf({ metadata }: Pod): string {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller);
  return owner?.kind === 'ReplicaSet' ? owner.name.replace(/-[a-z0-9]+$/, '') : (owner?.name ?? metadata.name);
}

function groupWaiting(pods: readonly Pod[], reasonOf: (pod: Pod) => string): WaitingRow[] {
  const groups = new Map<string, { count: number; reason: string }>();
  for (const pod of pods) {
    const owner = ownerOf(pod);
    const group = groups.get(owner) ?? { count: 0, reason: '' };
    group.count++;
    group.reason ||= reasonOf(pod);
    groups.set(owner, group);
  }
  return [...groups].map(([owner, group]) => ({ owner, ...group })).sort((left, right) => right.count - left.count);
}

/** Savings of executed consolidation commands, and the result of the last complete pass. */
function savingsIn(ledger: Ledger): Pick<WorldFacts, 'saved' | 'held'> {
  const begun = new Map<string, number>();
  let [saved, held] = [0, 0];
  for (const entry of ledger.entries()) {
    if (entry.kind === 'disruption') begun.set(entry.command, entry.savingsPerHour);
    else if (entry.kind === 'disruption-end' && entry.outcome === 'done') saved += begun.get(entry.command) ?? 0;
    else if (entry.kind === 'savings') held = entry.savingsPerHour;
  }
  return { saved, held };
}

/** nodewright's own reasons, which include remedies, by `podKey`; later ones replace earlier ones. */
function reasonsByPod(ledger: Ledger): ReadonlyMap<string, string> {
  const reasons = new Map<string, string>();
  for (const entry of ledger.entries()) {
    if (entry.kind !== 'refusal' && entry.kind !== 'objection') continue;
    const text = entry.kind === 'refusal' ? reasonText(entry.reason) : objectionText(entry.objection);
    for (const name of entry.pods.names) reasons.set(name, text);
  }
  return reasons;
}

/** The scheduler's message until nodewright has tried the pod. */
function schedulerReason({ status }: Pod): string {
  return status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message ?? '';
}
