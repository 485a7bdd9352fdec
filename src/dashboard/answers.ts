/**
 * Answers that need a rehearsal: why a pod waits, why a node stays, what a change would do. Computed in another thread,
 * one at a time; the thread's copy of the cluster is used for a short time before it is updated.
 */
import { Kinds } from '../api/kinds.ts';
import { printYaml } from '../api/yaml/printYaml.ts';
import { objectsOf } from '../rehearsal/clusterObjects.ts';
import { AnswerThread, type StartThread, type ThreadTimes } from './answering/answerThread.ts';
import type { AnswerTo, NodeAnswer, Question } from './answering/protocol.ts';
import type { DashboardSource } from './picture.ts';
import type { Answer, WhatIfAnswer, WhatIfScreen } from './screens.ts';

/** Minimum real milliseconds for which the thread's copy is used; longer if updating it takes long. */
const HOLDS = 5_000;
const HOLDS_TIMES = 20;
/** Limit on queued questions. */
const MOST_WAITING = 16;
/** Limit on cached answers while the copy is in use. */
const MOST_GIVEN = 64;

export class Busy extends Error {}

export class Answers {
  private readonly source: DashboardSource;
  private readonly thread: AnswerThread;
  private turn: Promise<unknown> = Promise.resolve();
  private waiting = 0;
  /** Real time until which the thread's copy is used. */
  private holdsUntil = 0;
  /** Answers for that copy, by question: pages repeat their questions. */
  private readonly given = new Map<string, unknown>();

  constructor(source: DashboardSource, start: StartThread, times?: Partial<ThreadTimes>) {
    this.source = source;
    this.thread = new AnswerThread(start, times);
  }

  async pod(namespace: string, name: string): Promise<Answer | undefined> {
    return this.inTurn({ kind: 'pod', namespace, name });
  }

  async node(claim: string): Promise<NodeAnswer | undefined> {
    return this.inTurn({ kind: 'node', claim });
  }

  /** Effect of this NodePool on the cluster. */
  async whatIf(manifest: string): Promise<WhatIfAnswer> {
    return (await this.inTurn({ kind: 'what-if', manifest })) ?? { problems: ['nothing is known of the cluster yet'] };
  }

  pools(time: number, isWritable: boolean): WhatIfScreen {
    const objects = this.source.rehearsal()?.objects;
    const pools = objects === undefined ? [] : objectsOf(objects, Kinds.NodePool);
    return {
      time,
      mayApply: isWritable,
      pools: pools.map(({ metadata: { name, labels, annotations }, spec }) => ({
        name,
        manifest: printYaml({
          apiVersion: 'karpenter.sh/v1',
          kind: 'NodePool',
          metadata: {
            name,
            ...(labels && { labels }),
            ...(annotations && { annotations: ownAnnotations(annotations) }),
          },
          spec,
        }),
      })),
    };
  }

  stop(): Promise<void> {
    return this.thread.stop();
  }

  private async inTurn<Kind extends Question['kind']>(
    question: Extract<Question, { kind: Kind }>,
  ): Promise<AnswerTo[Kind] | undefined> {
    if (this.waiting >= MOST_WAITING) throw new Busy('too many questions wait for an answer');
    this.waiting += 1;
    const answer = this.turn.then(() => this.ask(question));
    this.turn = answer.catch(() => undefined);
    try {
      return await answer;
    } finally {
      this.waiting -= 1;
    }
  }

  private async ask<Kind extends Question['kind']>(
    question: Extract<Question, { kind: Kind }>,
  ): Promise<AnswerTo[Kind] | undefined> {
    if (!this.thread.isRunning || performance.now() >= this.holdsUntil) {
      const source = this.source.rehearsal();
      if (source === undefined) return undefined;
      this.given.clear();
      const took = await this.thread.show(source);
      this.holdsUntil = performance.now() + Math.max(HOLDS, HOLDS_TIMES * took);
    }
    const key = JSON.stringify(question);
    if (this.given.has(key)) return this.given.get(key) as AnswerTo[Kind];
    const answer = await this.thread.ask<Kind>(question);
    if (this.given.size < MOST_GIVEN) this.given.set(key, answer);
    return answer;
  }
}

/** User-written annotations, without our hashes and kubectl's data. */
function ownAnnotations(annotations: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(annotations).filter(([key]) => !key.startsWith('karpenter.') && !key.startsWith('kubectl.')),
  );
}
