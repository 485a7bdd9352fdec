/** Answers the thread's requests from the controller's own cloud and API server. Read-only. */
import type { InstanceType } from '../../cloud/instanceType.ts';
import { instanceTypeData } from '../../cloud/instanceTypeData.ts';
import { messageOf } from '../../errors/thrown.ts';
import { KubeError } from '../../kube/errors.ts';
import type { RehearsalSource } from '../picture.ts';
import type { Ask, Failure, QuotaAnswer, QuotaAsk, QuotaLine, ToThread } from './protocol.ts';
import { Slices } from './slices.ts';

/** Instance types copied per slice: about a millisecond. */
const AT_ONCE = 32;

interface SentList {
  readonly number: number;
  readonly isComplete: Promise<void>;
}

export class AsksOfThread {
  private readonly post: (message: ToThread) => void;
  /** Lists sent to the thread, with those still in use since `lists` was last read. */
  private lists = new Map<readonly InstanceType[], SentList>();
  private used = new Map<readonly InstanceType[], SentList>();
  private nextList = 0;

  constructor(post: (message: ToThread) => void) {
    this.post = post;
  }

  /** Lists requested since this was last read; the others are dropped on both sides. */
  stillUsed(): readonly number[] {
    this.lists = this.used;
    this.used = new Map();
    return Array.from(this.lists.values(), ({ number }) => number);
  }

  async answer(ask: Ask, { kube, cloud }: RehearsalSource): Promise<unknown> {
    if (ask.kind === 'get') return kube.get(ask.resource, ask.ref);
    const types = await cloud.instanceTypes(ask.pool, ask.nodeClass);
    const sent = this.used.get(types) ?? this.lists.get(types) ?? this.send(types);
    this.used.set(types, sent);
    await sent.isComplete;
    return sent.number;
  }

  private send(types: readonly InstanceType[]): SentList {
    const number = this.nextList++;
    return { number, isComplete: this.sendParts(types, number) };
  }

  private async sendParts(types: readonly InstanceType[], list: number): Promise<void> {
    const slices = new Slices();
    for (let at = 0; at < types.length; at += AT_ONCE) {
      this.post({ type: 'types', list, types: instanceTypeData(types.slice(at, at + AT_ONCE)) });
      await slices.pause();
    }
  }
}

/** Answers synchronously, because the thread is blocked meanwhile. */
export function answerQuotas({ port, told }: QuotaLine, source: () => RehearsalSource | undefined): void {
  port.on('message', (unlaunched: QuotaAsk) => {
    const figures: QuotaAnswer = source()?.cloud.quotas?.(unlaunched) ?? new Map();
    port.postMessage(figures);
    Atomics.store(told, 0, 1);
    Atomics.notify(told, 0);
  });
  port.unref();
}

export function failureOf(error: unknown): Failure {
  return { message: messageOf(error), ...(error instanceof KubeError && { status: error.status }) };
}
