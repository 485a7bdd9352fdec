/** `npm run test:upstream`: Karpenter's own regression suite against `nodewright run --cloud-provider kwok`. */
import { cp, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { buildIdentity, Results } from './results.ts';
import { startRig, type Rig } from './rig.ts';
import { runSpec } from './runSpec.ts';
import { AREAS, listSpecs, type Area, type Spec } from './spec.ts';
import { ensureKarpenter, ensureSuite } from './suiteBinary.ts';
import { problemsOf, summaryOf } from './verdict.ts';

interface Flags {
  readonly area: readonly Area[];
  readonly resume: boolean;
  readonly peer: boolean;
  readonly parallel: number;
  readonly out: string;
  readonly 'ginkgo.focus'?: string;
  readonly 'ginkgo.skip'?: string;
}

interface Shift {
  readonly program: string;
  readonly nodewright: string;
  readonly peer: string | undefined;
  readonly waiting: Spec[];
  readonly results: Results;
  readonly directory: string;
  /** Runs a thing after all that it was given before. */
  readonly inTurn: InTurn;
}

type InTurn = <T>(thing: () => Promise<T>) => Promise<T>;

const ROOT = join(import.meta.dirname, '../..');
const LIMIT_MINUTES = 25;
const MINUTE = 60_000;
const MAX_PARALLEL = 8;
/** These specs listen on port 8080, whatever else goes on. */
const ALONE: ReadonlySet<Area> = new Set<Area>(['chaos']);

const command = new Command('test:upstream')
  .description("Runs Karpenter's regression suite against nodewright on a real control plane.")
  .option('--area <names...>', `only these areas: ${AREAS.join(', ')}`, parseArea, [])
  .option('--resume', 'go on after an interrupted run of the same build', false)
  .option('--peer', "run Karpenter's own controller instead, to compare", false)
  .option('--parallel <number>', 'how many control planes to use at once', parseParallel, 1)
  .option('--out <folder>', 'where logs, reports and results go', join(ROOT, '.nodewright', 'upstream'))
  .option('--ginkgo.focus <pattern>', 'only specs whose full name matches')
  .option('--ginkgo.skip <pattern>', 'no specs whose full name matches')
  .allowExcessArguments(false)
  .action(async () => {
    process.exitCode = await main(command.opts<Flags>());
  });

async function main(flags: Flags): Promise<number> {
  const program = await ensureSuite(report);
  const everything = await listSpecs(program);
  const specs = await chosen(program, flags);
  await mkdir(flags.out, { recursive: true });
  const results = await Results.open(flags.out, await buildIdentity(ROOT, program, flags), flags);
  const waiting = specs.filter(({ name }) => results.get(name) === undefined);
  report(`${specs.length} of ${everything.length} specs, ${specs.length - waiting.length} of them done before`);
  const nodewright = await ownCopy(flags.out);
  const peer = flags.peer ? await ensureKarpenter(report) : undefined;
  const inTurn = queue();
  const workers = Array.from({ length: Math.min(flags.parallel, waiting.length) }, (_, index) =>
    work({ program, nodewright, peer, waiting, results, inTurn, directory: join(flags.out, `worker-${index + 1}`) }),
  );
  await Promise.all(workers);
  const outcomes = specs.flatMap(({ name }) => results.get(name) ?? []);
  const problems = problemsOf(outcomes);
  console.log(summaryOf(outcomes));
  for (const problem of problems) console.log(problem);
  return problems.length > 0 || outcomes.length < specs.length ? 1 : 0;
}

async function chosen(program: string, flags: Flags): Promise<readonly Spec[]> {
  const ginkgo = (['ginkgo.focus', 'ginkgo.skip'] as const).flatMap((name) => {
    const pattern = flags[name];
    return pattern === undefined ? [] : [`--${name}=${pattern}`];
  });
  const specs = await listSpecs(program, ginkgo);
  return specs.filter(({ area }) => flags.area.length === 0 || flags.area.includes(area));
}

/** A run takes long; a build in the meantime must not change what is under test. */
async function ownCopy(directory: string): Promise<string> {
  const copy = join(directory, 'program');
  await rm(copy, { recursive: true, force: true });
  await cp(join(ROOT, 'dist'), copy, { recursive: true });
  return join(copy, 'nodewright.js');
}

/** Takes specs from the common list until none is left. A spec that did not pass gets the next one a fresh cluster. */
async function work({ program, nodewright, peer, waiting, results, directory, inTurn }: Shift): Promise<void> {
  await mkdir(directory, { recursive: true });
  let rig: Rig | undefined;
  try {
    for (let spec = waiting.shift(); spec !== undefined; spec = waiting.shift()) {
      rig ??= await startRig({ nodewright, peer, logDirectory: directory });
      const run = { program, rig, spec, directory, limitMilliseconds: LIMIT_MINUTES * MINUTE };
      const outcome = await (ALONE.has(spec.area) ? inTurn(() => runSpec(run)) : runSpec(run));
      const word = outcome.passed ? 'passed' : 'FAILED';
      report(`${word.padEnd(8)}${String(outcome.seconds).padStart(5)} s  ${spec.area}: ${spec.name}`);
      if (!outcome.passed) report(`          ${outcome.complaint ?? ''}`);
      await results.add(outcome);
      if (outcome.passed) continue;
      await rig.stop();
      rig = undefined;
    }
  } finally {
    await rig?.stop();
  }
}

function queue(): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  return (thing) => {
    const mine = last.then(thing);
    last = mine.catch(() => undefined);
    return mine;
  };
}

function report(line: string): void {
  console.error(line);
}

function parseArea(value: string, previous: readonly Area[]): readonly Area[] {
  const found = AREAS.find((area) => area === value);
  if (!found) throw new InvalidArgumentError(`there is ${AREAS.join(', ')}.`);
  return [...previous, found];
}

function parseParallel(value: string): number {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 1 || number > MAX_PARALLEL) {
    throw new InvalidArgumentError(`write a whole number from 1 to ${MAX_PARALLEL}.`);
  }
  return number;
}

// Leaves at once, so that everything which was started is ended; `--resume` goes on from here.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130));
await command.parseAsync();
