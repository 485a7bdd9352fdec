/**
 * Answers that take a rehearsal: why a pod waits, why a node stays, what a change would do. One at a time, since the
 * controller works in the same process; an answer holds for a moment.
 */
import { Kinds } from '../api/kinds.ts';
import { printYaml } from '../api/yaml/printYaml.ts';
import { fixLines } from '../ledger/explanationText.ts';
import type { Explanation } from '../ledger/explanation.ts';
import { readManifests } from '../plan/readManifests.ts';
import { applyManifests } from '../rehearsal/applyManifests.ts';
import { objectsOf } from '../rehearsal/clusterObjects.ts';
import { explainNodeIn } from '../rehearsal/explainNodeIn.ts';
import { explainPodIn } from '../rehearsal/explainPodIn.ts';
import { rehearse, type Rehearsal } from '../rehearsal/rehearse.ts';
import { rehearseChange } from '../rehearsal/rehearseChange.ts';
import type { DashboardSource, RehearsalSource } from './picture.ts';
import type { Answer, WhatIfAnswer, WhatIfScreen } from './screens.ts';

/** Real milliseconds for which a rehearsal is used again, and at least as many times what it took. */
const HOLDS = 5_000;
const HOLDS_TIMES = 20;
/** Questions that may wait for their turn. */
const MOST_WAITING = 16;

interface Rehearsed {
  readonly source: RehearsalSource;
  readonly rehearsal: Rehearsal;
  readonly until: number;
}

export class Busy extends Error {}

export class Answers {
  private readonly source: DashboardSource;
  private turn: Promise<unknown> = Promise.resolve();
  private waiting = 0;
  private latest: Rehearsed | undefined;

  constructor(source: DashboardSource) {
    this.source = source;
  }

  async pod(namespace: string, name: string): Promise<Answer | undefined> {
    return this.inTurn(async ({ rehearsal, source }) =>
      answerOf(await explainPodIn(rehearsal, { namespace, name }, source.kube)),
    );
  }

  /** The explanation with the facts of the node. */
  async node(claim: string): Promise<Explanation | undefined> {
    return this.inTurn(({ rehearsal, source }) =>
      explainNodeIn(rehearsal, { kind: 'nodeclaim', name: claim }, { cloud: source.cloud }, source.kube),
    );
  }

  /** What becomes of the cluster with this NodePool. */
  async whatIf(manifest: string): Promise<WhatIfAnswer> {
    const input = readManifests([{ source: 'NodePool', text: manifest }]);
    const problems = input.mistakes.map(({ line, message }) => `line ${line}: ${message}`);
    if (problems.length === 0 && input.pools.length === 0) problems.push('there is no NodePool in it');
    if (problems.length > 0) return { problems };
    const report = await this.inTurn(({ source: { objects, cloud } }) =>
      rehearseChange(objects, applyManifests(objects, input), { cloud }),
    );
    return report === undefined ? { problems: ['nothing is known of the cluster yet'] } : { problems: [], report };
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

  private async inTurn<Result>(ask: (rehearsed: Rehearsed) => Promise<Result>): Promise<Result | undefined> {
    if (this.waiting >= MOST_WAITING) throw new Busy('too many questions wait for an answer');
    this.waiting += 1;
    const result = this.turn.then(async () => {
      const rehearsed = await this.rehearsed();
      return rehearsed && ask(rehearsed);
    });
    this.turn = result.catch(() => undefined);
    try {
      return await result;
    } finally {
      this.waiting -= 1;
    }
  }

  private async rehearsed(): Promise<Rehearsed | undefined> {
    if (this.latest !== undefined && performance.now() < this.latest.until) return this.latest;
    const source = this.source.rehearsal();
    if (source === undefined) return undefined;
    const began = performance.now();
    const rehearsal = await rehearse({ objects: source.objects, cloud: source.cloud });
    const now = performance.now();
    this.latest = { source, rehearsal, until: now + Math.max(HOLDS, HOLDS_TIMES * (now - began)) };
    return this.latest;
  }
}

/** What a user wrote: hashes of ours and what kubectl keeps would only confuse. */
function ownAnnotations(annotations: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(annotations).filter(([key]) => !key.startsWith('karpenter.') && !key.startsWith('kubectl.')),
  );
}

export function answerOf(explanation: Explanation): Answer;
export function answerOf(explanation: Explanation | undefined): Answer | undefined;
export function answerOf(explanation: Explanation | undefined): Answer | undefined {
  if (explanation === undefined) return undefined;
  const { sentence, constraint, evidence, fixes } = explanation;
  return {
    sentence,
    constraint,
    evidence: evidence.filter((line) => line !== sentence),
    fixes: fixes.map((fix) => {
      const [, ...commands] = fixLines(fix, '');
      return { sentence: fix.sentence, commands: commands.map((command) => command.trim()) };
    }),
  };
}
