/** Answers that need a rehearsal: why a pod waits, why a node stays, what a change would do. */
import type { KubeObject } from '../../api/object.ts';
import { InvariantError } from '../../errors/invariantError.ts';
import type { Explanation } from '../../ledger/explanation.ts';
import { fixLines } from '../../ledger/explanationText.ts';
import { readManifests } from '../../plan/readManifests.ts';
import { applyManifests } from '../../rehearsal/applyManifests.ts';
import type { ClusterObjects } from '../../rehearsal/clusterObjects.ts';
import { explainNodeIn } from '../../rehearsal/explainNodeIn.ts';
import { explainPodIn } from '../../rehearsal/explainPodIn.ts';
import { rehearse, type Rehearsal } from '../../rehearsal/rehearse.ts';
import { rehearseChange } from '../../rehearsal/rehearseChange.ts';
import type { RehearsalSource } from '../picture.ts';
import type { Answer, WhatIfAnswer } from '../screens.ts';
import type { ControllerLine } from './controllerLine.ts';
import type { AnswerTo, NodeAnswer, Question, SentCluster, ToThread } from './protocol.ts';

type Taken = Extract<ToThread, { type: 'objects' | 'cluster' | 'types' }>;

export class ThreadAnswers {
  private readonly line: ControllerLine;
  /** By number. */
  private objects = new Map<number, KubeObject>();
  private source: RehearsalSource | undefined;
  /** Made when the first question needs it. */
  private rehearsed: Promise<Rehearsal> | undefined;

  constructor(line: ControllerLine) {
    this.line = line;
  }

  take(message: Taken): void {
    if (message.type === 'types') this.line.takeTypes(message);
    else if (message.type === 'cluster') this.show(message.cluster);
    else message.objects.forEach((object, at) => this.objects.set(message.first + at, object));
  }

  async to(question: Question): Promise<AnswerTo[Question['kind']]> {
    switch (question.kind) {
      case 'pod':
        return this.pod(question);
      case 'node':
        return this.node(question.claim);
      case 'what-if':
        return this.whatIf(question.manifest);
    }
  }

  private show({ time, kinds, lists, cloud }: SentCluster): void {
    this.line.forgetTypesBut(lists);
    const objects = new Map<number, KubeObject>();
    const listed = kinds.map(([kind, numbers]) => [kind, Array.from(numbers, (number) => this.keep(number, objects))]);
    // Objects in no list are dropped.
    this.objects = objects;
    const sent: ClusterObjects = { time, kinds: new Map(listed as [string, KubeObject[]][]) };
    this.source = { objects: sent, cloud: this.line.cloud(cloud), kube: this.line.kube(time) };
    this.rehearsed = undefined;
  }

  private keep(number: number, kept: Map<number, KubeObject>): KubeObject {
    const object = this.objects.get(number);
    if (object === undefined) throw new InvariantError('an object was not sent');
    kept.set(number, object);
    return object;
  }

  private async pod({ namespace, name }: Extract<Question, { kind: 'pod' }>): Promise<Answer | undefined> {
    const { rehearsal, kube } = await this.rehearsal();
    const explanation = await explainPodIn(rehearsal, { namespace, name }, kube);
    return explanation && answerOf(explanation);
  }

  private async node(claim: string): Promise<NodeAnswer | undefined> {
    const { rehearsal, kube, cloud } = await this.rehearsal();
    const explanation = await explainNodeIn(rehearsal, { kind: 'nodeclaim', name: claim }, { cloud }, kube);
    if (explanation === undefined) return undefined;
    const { replaces = [], boughtForPods = 0, offerings = [], today } = explanation.node ?? {};
    return { explanation: answerOf(explanation), replaces, boughtForPods, offerings, today: today?.nodes ?? [] };
  }

  private async whatIf(manifest: string): Promise<WhatIfAnswer> {
    const input = readManifests([{ source: 'NodePool', text: manifest }]);
    const problems = input.mistakes.map(({ line, message }) => `line ${line}: ${message}`);
    if (problems.length === 0 && input.pools.length === 0) problems.push('there is no NodePool in it');
    if (problems.length > 0) return { problems };
    const { objects, cloud } = this.shown();
    return { problems: [], report: await rehearseChange(objects, applyManifests(objects, input), { cloud }) };
  }

  private async rehearsal(): Promise<RehearsalSource & { readonly rehearsal: Rehearsal }> {
    const source = this.shown();
    const { objects, cloud } = source;
    this.rehearsed ??= rehearse({ objects, cloud });
    return { ...source, rehearsal: await this.rehearsed };
  }

  private shown(): RehearsalSource {
    if (this.source === undefined) throw new InvariantError('no cluster was shown');
    return this.source;
  }
}

function answerOf({ sentence, constraint, evidence, fixes }: Explanation): Answer {
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
