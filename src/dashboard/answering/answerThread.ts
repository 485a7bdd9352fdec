/**
 * Runs rehearsals, which take seconds in a large cluster, in a thread of their own, so that the controller's loops
 * continue. The thread starts with the first question and ends after a time without questions, which frees its memory.
 * When it fails, its question fails, and the next question starts a new thread after a pause.
 */
import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads';
import type { RehearsalSource } from '../picture.ts';
import { AsksOfThread, answerQuotas, failureOf } from './asksOfThread.ts';
import { ClusterSender } from './clusterSender.ts';
import type { AnswerTo, FromThread, Question, QuotaLine, ToThread } from './protocol.ts';

/** Starts `answerWorker.ts` with these data. */
export type StartThread = (data: QuotaLine, transfer: readonly MessagePort[]) => Worker;

/** The question could not be answered; the message says why, and what to ask instead. */
export class Unanswered extends Error {}

/** Real milliseconds. */
export interface ThreadTimes {
  /** Timeout of one answer. */
  readonly patience: number;
  /** Time without a question after which the thread ends. */
  readonly idle: number;
  /** Pause after a failed thread. */
  readonly rest: number;
}

const TIMES: ThreadTimes = { patience: 120_000, idle: 120_000, rest: 10_000 };
const ELSEWHERE = '`nodewright explain` and `nodewright plan` work it out on your own machine';

interface Life {
  readonly worker: Worker;
  readonly sender: ClusterSender;
  readonly asks: AsksOfThread;
  readonly line: QuotaLine;
  source: RehearsalSource | undefined;
}

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

export class AnswerThread {
  private readonly start: StartThread;
  private readonly times: ThreadTimes;
  private life: Life | undefined;
  private idle: NodeJS.Timeout | undefined;
  /** By number. */
  private readonly waiting = new Map<number, Waiting>();
  private next = 0;
  private restsUntil = 0;
  private problem = '';

  constructor(start: StartThread, times: Partial<ThreadTimes> = {}) {
    this.start = start;
    this.times = { ...TIMES, ...times };
  }

  /** Whether a thread with a copy of the cluster is running. */
  get isRunning(): boolean {
    return this.life !== undefined;
  }

  /** Sends this cluster to the thread. Returns the milliseconds that it took of the caller's thread. */
  async show(source: RehearsalSource): Promise<number> {
    const life = this.alive();
    life.source = source;
    return life.sender.send(source, life.asks.stillUsed());
  }

  /** Asks about the cluster that was sent last. */
  async ask<Kind extends Question['kind']>(question: Extract<Question, { kind: Kind }>): Promise<AnswerTo[Kind]> {
    const { life } = this;
    if (life === undefined) throw new Unanswered(this.problem);
    clearTimeout(this.idle);
    const number = this.next++;
    const { patience, idle } = this.times;
    const impatience = setTimeout(() => {
      const seconds = Math.round(patience / 1000);
      this.fail(life, `it was not worked out within ${seconds} s; ${ELSEWHERE}`, { rest: false });
    }, patience);
    try {
      const answer = new Promise<unknown>((resolve, reject) => this.waiting.set(number, { resolve, reject }));
      post(life.worker, { type: 'question', number, question });
      return (await answer) as AnswerTo[Kind];
    } finally {
      clearTimeout(impatience);
      this.waiting.delete(number);
      this.idle = setTimeout(() => void this.stop(), idle).unref();
    }
  }

  async stop(): Promise<void> {
    clearTimeout(this.idle);
    const { life } = this;
    if (life !== undefined) await this.end(life, new Unanswered('the dashboard ends'));
  }

  private alive(): Life {
    if (this.life !== undefined) return this.life;
    if (performance.now() < this.restsUntil) throw new Unanswered(this.problem);
    const { port1: port, port2: far } = new MessageChannel();
    const told = new Int32Array(new SharedArrayBuffer(4));
    const worker = this.start({ port: far, told }, [far]);
    const toThread = (message: ToThread): void => post(worker, message);
    const asks = new AsksOfThread(toThread);
    const sender = new ClusterSender(toThread);
    const life: Life = { worker, sender, asks, line: { port, told }, source: undefined };
    answerQuotas(life.line, () => life.source);
    worker.on('message', (message: FromThread) => {
      if (message.type === 'answer') this.settle(message);
      else if (life.source !== undefined) void tell(worker, message, asks, life.source);
    });
    worker.on('error', (error: Error & { readonly code?: string }) => {
      const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      this.fail(life, isMemory ? `it takes more memory than there is here; ${ELSEWHERE}` : error.message);
    });
    worker.on('exit', () => this.fail(life, 'the thread that works it out has ended'));
    // Do not let the thread keep the process alive.
    worker.unref();
    this.life = life;
    return life;
  }

  private settle({ number, value, failure }: Extract<FromThread, { type: 'answer' }>): void {
    const waiting = this.waiting.get(number);
    if (failure === undefined) waiting?.resolve(value);
    else waiting?.reject(new Unanswered(failure.message));
  }

  private fail(life: Life, message: string, { rest = true } = {}): void {
    if (this.life !== life) return;
    this.problem = message;
    if (rest) this.restsUntil = performance.now() + this.times.rest;
    void this.end(life, new Unanswered(message));
  }

  private async end({ worker, line }: Life, reason: Unanswered): Promise<void> {
    this.life = undefined;
    line.port.close();
    for (const waiting of this.waiting.values()) waiting.reject(reason);
    await worker.terminate();
  }
}

async function tell(
  worker: Worker,
  { number, ask }: Extract<FromThread, { type: 'ask' }>,
  asks: AsksOfThread,
  source: RehearsalSource,
): Promise<void> {
  try {
    post(worker, { type: 'told', number, value: await asks.answer(ask, source) });
  } catch (error) {
    post(worker, { type: 'told', number, failure: failureOf(error) });
  }
}

function post(worker: Worker, message: ToThread): void {
  worker.postMessage(message);
}
