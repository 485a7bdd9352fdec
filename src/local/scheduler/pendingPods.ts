/** The pods that wait for a node. One that found none is tried again only when something changes that could help it. */
import type { Pod } from '../../api/kinds.ts';
import { isActive } from '../../pods/podPredicates.ts';
import { affinityTerms } from './affinity.ts';
import { isWorthTrying, type NodeNews, type Setback } from './nodeNews.ts';
import type { PodInfo } from './podInfo.ts';

/** Whether placing another pod can make a place for this one: it must be near it, or evenly spread. */
function isSociable({ pod }: PodInfo): boolean {
  return affinityTerms(pod, 'podAffinity').length > 0 || (pod.spec?.topologySpreadConstraints ?? []).length > 0;
}

export class PendingPods {
  private readonly waiting = new Map<string, PodInfo>();
  private readonly awake = new Set<string>();
  /** When each pod's turn is: it came, or was last seen to fail, before those with higher numbers. */
  private readonly turns = new Map<string, number>();
  private nextTurn = 0;
  private readonly sociable = new Set<string>();
  private readonly withClaims = new Set<string>();
  /** Why pods found no node when they were last tried. */
  private readonly setbacks = new Map<string, Setback>();

  get hasWork(): boolean {
    return this.awake.size > 0;
  }

  /** A pod is tried again when it changed in a way that decides where it fits, and otherwise keeps waiting. */
  set(info: PodInfo): void {
    const before = this.waiting.get(info.key);
    this.waiting.set(info.key, info);
    if (before === undefined) this.turns.set(info.key, this.nextTurn++);
    if (isSociable(info)) this.sociable.add(info.key);
    if (info.claims.length > 0) this.withClaims.add(info.key);
    if (before?.shape !== info.shape || before.pod.metadata.uid !== info.pod.metadata.uid) this.awake.add(info.key);
  }

  delete(key: string): void {
    this.waiting.delete(key);
    this.awake.delete(key);
    this.sociable.delete(key);
    this.withClaims.delete(key);
    this.setbacks.delete(key);
    this.turns.delete(key);
  }

  /** The pod has found no node. It gets in line again where that is said of it. */
  failed(key: string, setback: Setback, isSaid: boolean): void {
    this.setbacks.set(key, setback);
    if (isSaid) this.turns.set(key, this.nextTurn++);
  }

  wake(key: string): void {
    if (this.waiting.has(key)) this.awake.add(key);
  }

  wakeAll(): void {
    for (const key of this.waiting.keys()) this.awake.add(key);
  }

  /** Room has been given up. */
  wakeCrowdedOut(): void {
    for (const [key, setback] of this.setbacks) if (setback === 'crowded out') this.awake.add(key);
  }

  wakeFor(news: NodeNews): void {
    for (const [key, info] of this.waiting) {
      if (isWorthTrying(info, this.setbacks.get(key) ?? 'other', news)) this.awake.add(key);
    }
  }

  wakeSociable(): void {
    for (const key of this.sociable) this.awake.add(key);
  }

  wakeWithClaims(): void {
    for (const key of this.withClaims) this.awake.add(key);
  }

  /** Those to try now; after that they wait until they are woken again. */
  take(): PodInfo[] {
    const taken = [...this.awake].flatMap((key) => this.waiting.get(key) ?? []);
    this.awake.clear();
    return taken.sort((left, right) => right.priority - left.priority || this.turnOf(left) - this.turnOf(right));
  }

  private turnOf({ key }: PodInfo): number {
    return this.turns.get(key) ?? 0;
  }

  isSociable(info: PodInfo): boolean {
    return this.sociable.has(info.key);
  }
}

export function isPending(pod: Pod): boolean {
  return (
    !pod.spec?.nodeName &&
    isActive(pod) &&
    (pod.spec?.schedulingGates ?? []).length === 0 &&
    (pod.spec?.schedulerName ?? 'default-scheduler') === 'default-scheduler'
  );
}
