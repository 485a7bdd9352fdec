/**
 * Asks Karpenter's own scheduler the same question: nodes, price and time, or one line that says why it cannot be asked
 * here.
 */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import type { Pod } from '../../src/api/kinds.ts';
import { builtScheduler } from '../peers/builtPeer.ts';
import { wireType } from '../peers/wireType.ts';
import { median } from './measure.ts';
import type { Offer } from './offer.ts';

export interface PeerAnswer {
  readonly nodes: number;
  readonly pricePerHour: number;
  readonly placed: number;
  readonly unplaced: number;
  readonly setupMillis: number;
  readonly solveMillis: number;
  /** All threads together. */
  readonly cpuMillis: number;
  readonly memoryMiB: number;
  readonly firstFailure?: string;
}

/** Median and least of several answers. */
export interface PeerMeasured extends PeerAnswer {
  readonly runs: number;
  readonly leastMillis: number;
}

export interface PeerQuestion {
  readonly pods: readonly Pod[];
  readonly offer: Offer;
  readonly preferencePolicy?: 'Respect' | 'Ignore';
}

const MEASURE_LIMIT_MILLISECONDS = 60_000;
const ANSWER_LIMIT_MILLISECONDS = 15 * 60_000;

export class Peer {
  private readonly program: string;

  private constructor(program: string) {
    this.program = program;
  }

  /** Builds it when this version was never built on this machine. */
  static async open(report: (line: string) => void): Promise<Peer | string> {
    const built = await builtScheduler(report);
    return typeof built === 'string' ? built : new Peer(built.program);
  }

  /** Asks several times, as long as that does not take minutes; every answer is a fresh process. */
  async measure(question: PeerQuestion, runs: number): Promise<PeerMeasured> {
    const answers = [await this.solve(question)];
    for (let spent = answers[0]!.solveMillis; answers.length < runs && spent < MEASURE_LIMIT_MILLISECONDS;) {
      const answer = await this.solve(question);
      spent += answer.solveMillis;
      answers.push(answer);
    }
    const times = answers.map(({ solveMillis }) => solveMillis);
    return {
      ...answers[0]!,
      runs: answers.length,
      solveMillis: median(times),
      leastMillis: Math.min(...times),
      cpuMillis: Math.min(...answers.map(({ cpuMillis }) => cpuMillis)),
    };
  }

  async solve(question: PeerQuestion): Promise<PeerAnswer> {
    const child = spawn(this.program, { stdio: ['pipe', 'pipe', 'pipe'], timeout: ANSWER_LIMIT_MILLISECONDS });
    const ended = new Promise<number | string>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (status, signal) => resolve(status ?? signal ?? 'unknown'));
    });
    const output = Promise.all([text(child.stdout), text(child.stderr)]);
    child.stdin.end(JSON.stringify(wire(question)));
    const [[stdout, stderr], code] = await Promise.all([output, ended]);
    if (code !== 0) throw new Error(`Karpenter's scheduler ended with ${code}: ${stderr.trim()}`);
    return JSON.parse(stdout) as PeerAnswer;
  }
}

function wire({ pods, offer, preferencePolicy = 'Respect' }: PeerQuestion): object {
  return {
    pods,
    preferencePolicy,
    requirements: offer.requirements,
    instanceTypes: offer.instanceTypes.map(wireType),
  };
}
