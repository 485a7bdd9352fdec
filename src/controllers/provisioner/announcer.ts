import type { Pod } from '../../api/kinds.ts';
import { podList } from '../../ledger/podList.ts';
import type { LaunchRecord, NominationRecord, PlanRecord } from '../../ledger/record.ts';
import type { PodObjection } from '../../ledger/objection.ts';
import { reasonText } from '../../ledger/reasonText.ts';
import { instanceTypesText } from '../../ledger/recordText.ts';
import { podKey } from '../../pods/podKey.ts';
import type { UnplacedReason } from '../../solver/reasons.ts';
import type { World } from '../world/world.ts';
import * as publish from './events.ts';

/** Reasons logged per pass; the ledger has all. */
const MAX_LOGGED_REASONS = 20;
/** Passes after which a continuing refusal is recorded again. */
const TOLD_AGAIN = 12;

/** Reports the decisions of a pass: ledger records, pod events and log lines. */
export class Announcer {
  private readonly world: Pick<World, 'ledger' | 'events' | 'log'>;
  /** Reasons logged by the last pass: a reason is logged when it is new, not every ten seconds. */
  private logged: ReadonlySet<string> = new Set();
  /** Refusals and objections of the last pass, with the number of passes in which they did not change. */
  private standing = new Map<string, number>();
  private stillStanding = new Map<string, number>();
  /** How many pods the last pass planned, and how many it could not place. */
  private found = '';

  constructor(world: Pick<World, 'ledger' | 'events' | 'log'>) {
    this.world = world;
  }

  /** A pass without changes and with the same result as the previous one is not recorded. */
  plan(record: Omit<PlanRecord, 'kind'>): void {
    const { pods, plannedNodes, onExistingNodes, unplaced } = record;
    const found = `${pods} ${unplaced}`;
    const isNews = plannedNodes + onExistingNodes > 0 || found !== this.found;
    this.found = found;
    if (isNews) this.world.ledger.append({ kind: 'plan', ...record });
    this.world.log.info('computed a plan for pending pods', { ...record });
  }

  objections(ignored: readonly { readonly pod: Pod; readonly objection: PodObjection }[]): void {
    const { ledger, events } = this.world;
    for (const { pod, objection } of ignored) {
      if (this.isNews(podKey(pod), objection)) {
        ledger.append({ kind: 'objection', pods: podList([podKey(pod)]), objection });
      }
      if (objection.kind !== 'opted-out') publish.ignored(events, pod, objection);
    }
  }

  nomination(pods: readonly Pod[], target: Pick<NominationRecord, 'nodeClaim' | 'node'>): void {
    const { ledger, events } = this.world;
    ledger.append({ kind: 'nomination', pods: podList(pods.map(podKey)), ...target });
    for (const pod of pods) publish.nominated(events, pod, target);
  }

  launch(record: LaunchRecord): void {
    const { ledger, log } = this.world;
    ledger.append(record);
    const { nodeClaim, nodePool, requests, chosen, pods } = record;
    log.info('created nodeclaim', {
      NodeClaim: nodeClaim,
      NodePool: nodePool,
      requests,
      'instance-types': instanceTypesText(record),
      pricePerHour: chosen.pricePerHour,
      pods: pods.count,
    });
  }

  /** Pods that share a reason share a record and a log line; each has its own event. */
  refusals(unplaced: readonly { readonly pod: Pod; readonly reason: UnplacedReason }[]): void {
    const { ledger, events, log } = this.world;
    const byReason = new Map<UnplacedReason, Pod[]>();
    for (const { pod, reason } of unplaced) {
      publish.failedScheduling(events, pod, reason);
      const known = byReason.get(reason);
      if (known === undefined) byReason.set(reason, [pod]);
      else known.push(pod);
    }
    const said = new Set<string>();
    for (const [reason, pods] of byReason) {
      const record = { kind: 'refusal', pods: podList(pods.map(podKey)), reason } as const;
      if (this.isNews(record.pods.names.join(), reason)) ledger.append(record);
      const text = reasonText(reason);
      if (!this.logged.has(text) && said.size < MAX_LOGGED_REASONS) {
        log.info('could not schedule pods', { pods: record.pods.count, such: record.pods.names[0], reason: text });
      }
      said.add(text);
    }
    this.logged = said;
    this.standing = this.stillStanding;
    this.stillStanding = new Map();
  }

  /** A repeated refusal is recorded again only after a while. */
  private isNews(pods: string, reason: object): boolean {
    // Ignore counts of nodes, which change all the time.
    const key = `${pods} ${JSON.stringify({ ...reason, nodes: [] })}`;
    const passes = ((this.standing.get(key) ?? -1) + 1) % TOLD_AGAIN;
    this.stillStanding.set(key, passes);
    return passes === 0;
  }
}
