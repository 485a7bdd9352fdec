/**
 * Records the events of controllers with the limits of client-go's recorder: of similar messages, nine are recorded and
 * further ones are combined in a single event; each object has a limited burst of events.
 */
import type { KubeObject, ResourceKind } from '../api/object.ts';
import type { Clock } from '../clock/clock.ts';
import type { EventRecorder } from '../kube/eventRecorder.ts';
import { RecentMap } from '../kube/recentMap.ts';

/** Number of different messages of one reason from which on they are combined. */
const ALIKE = 10;
const ALIKE_WITHIN = 600_000;
const BURST = 25;
/** Milliseconds after a burst until one more event may be recorded. */
const REFILL = 300_000;
const REMEMBERED = 4_096;

export class ControllerEvents {
  private readonly recorder: EventRecorder | undefined;
  private readonly clock: Clock;
  private readonly alike = new RecentMap<string, { readonly messages: Set<string>; readonly at: number }>(REMEMBERED);
  private readonly budgets = new RecentMap<string, { readonly left: number; readonly at: number }>(REMEMBERED);

  /** Records nothing without a recorder. */
  constructor(recorder: EventRecorder | undefined, clock: Clock) {
    this.recorder = recorder;
    this.clock = clock;
  }

  say(
    kind: ResourceKind<KubeObject>,
    object: KubeObject,
    reason: string,
    message: string,
    type: 'Normal' | 'Warning' = 'Normal',
  ): void {
    if (this.recorder === undefined) return;
    const { namespace = '', name, uid = '' } = object.metadata;
    const about = [kind.kind, namespace, name, uid].join('\n');
    const series = this.isOneOfMany(`${about}\n${type}\n${reason}`, message) ? { series: reason } : {};
    if (!this.spendBudget(about)) return;
    const text = 'series' in series ? `(combined from similar events): ${message}` : message;
    this.recorder.publish({ kind, object, type, reason, message: text, ...series });
  }

  private isOneOfMany(key: string, message: string): boolean {
    const at = this.clock.now();
    const known = this.alike.get(key);
    const messages = known && at - known.at <= ALIKE_WITHIN ? known.messages : new Set<string>();
    this.alike.set(key, { messages, at });
    if (messages.has(message)) return false;
    if (messages.size >= ALIKE - 1) return true;
    messages.add(message);
    return false;
  }

  private spendBudget(about: string): boolean {
    const at = this.clock.now();
    const known = this.budgets.get(about) ?? { left: BURST, at };
    const left = Math.min(BURST, known.left + (at - known.at) / REFILL);
    this.budgets.set(about, { left: left < 1 ? left : left - 1, at });
    return left >= 1;
  }
}
