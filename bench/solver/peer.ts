/**
 * Asks Karpenter's own scheduler the same question: nodes, price and time, or one line that says why it cannot be asked
 * here. Built once with Go into a cache outside the repository.
 */
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import type { Pod } from '../../src/api/kinds.ts';
import { formatResources } from '../../src/units/resources.ts';
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

const SOURCE = join(import.meta.dirname, '..', 'peers', 'karpenter');
const BUILD_LIMIT_MILLISECONDS = 20 * 60_000;
const MEASURE_LIMIT_MILLISECONDS = 60_000;
const ANSWER_LIMIT_MILLISECONDS = 15 * 60_000;

export class Peer {
  private readonly program: string;

  private constructor(program: string) {
    this.program = program;
  }

  /** Builds it when this version was never built on this machine. */
  static async open(report: (line: string) => void): Promise<Peer | string> {
    const program = await programPath();
    if (existsSync(program)) return new Peer(program);
    const run = promisify(execFile);
    try {
      await run('go', ['version']);
    } catch {
      return 'Karpenter is not measured: there is no Go on PATH to build it with.';
    }
    report('building Karpenter once (a few minutes)');
    await mkdir(dirname(program), { recursive: true });
    const unfinished = `${program}.${process.pid}`;
    try {
      await run('go', ['build', '-o', unfinished, '.'], { cwd: SOURCE, timeout: BUILD_LIMIT_MILLISECONDS });
    } catch (error) {
      const [line = ''] = (error instanceof Error ? error.message : String(error)).trim().split('\n').slice(-1);
      return `Karpenter is not measured: it could not be built (${line}).`;
    }
    await rename(unfinished, program);
    return new Peer(program);
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

/** Keyed by its exact source and modules. */
async function programPath(): Promise<string> {
  const digest = createHash('sha256');
  for (const file of ['main.go', 'go.mod', 'go.sum']) digest.update(await readFile(join(SOURCE, file)));
  const xdg = process.env['XDG_CACHE_HOME'];
  const cache = xdg !== undefined && xdg !== '' ? xdg : join(homedir(), '.cache');
  const key = `${process.platform}-${process.arch}-${digest.digest('hex').slice(0, 12)}`;
  return join(cache, 'nodewright', 'peers', 'karpenter', key, 'karpenter');
}

function wire({ pods, offer, preferencePolicy = 'Respect' }: PeerQuestion): object {
  return {
    pods,
    preferencePolicy,
    requirements: offer.requirements,
    instanceTypes: offer.instanceTypes.map(({ name, requirements, capacity, allocatable, offerings }) => ({
      name,
      requirements: requirements.toItems(),
      capacity: formatResources(capacity),
      allocatable: formatResources(allocatable),
      offerings: offerings.map((offering) => ({
        requirements: offering.requirements.toItems(),
        price: offering.price,
        available: offering.available,
      })),
    })),
  };
}
