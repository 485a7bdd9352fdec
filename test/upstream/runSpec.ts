/**
 * Runs one spec of Karpenter's suite against a rig: whether it passed and, if not, its message. Its complete output and
 * Ginkgo's JSON report are in the folder.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { Rig } from './rig.ts';
import { nameOf, readReports, type Spec, type SpecReport } from './spec.ts';

export interface Outcome {
  readonly spec: string;
  readonly area: string;
  readonly passed: boolean;
  readonly seconds: number;
  /** Why it did not pass, in a line. */
  readonly complaint?: string;
}

interface SpecRun {
  readonly program: string;
  readonly rig: Rig;
  readonly spec: Spec;
  readonly directory: string;
  readonly limitMilliseconds: number;
}

/** What a spec may take to clean up after it was interrupted. */
const CLEAN_UP_MILLISECONDS = 60_000;
const MAX_COMPLAINT = 300;

export async function runSpec(run: SpecRun): Promise<Outcome> {
  const { spec, directory } = run;
  const report = join(directory, `${fileName(spec.name)}.json`);
  const started = performance.now();
  const ended = await runProgram(run, report);
  const seconds = Math.round((performance.now() - started) / 1000);
  const about = { spec: spec.name, area: spec.area, seconds };
  const casualty = run.rig.casualty();
  if (casualty !== undefined) return { ...about, passed: false, complaint: `nodewright ${casualty} has ended` };
  if (!existsSync(report)) return { ...about, passed: false, complaint: `no report (the program ended with ${ended})` };
  const found = (await readReports(report)).find((candidate) => nameOf(candidate) === spec.name);
  if (found?.State === 'passed' && ended === '0') return { ...about, passed: true };
  return { ...about, passed: false, complaint: complaintOf(found) };
}

async function runProgram({ program, rig, spec, directory, limitMilliseconds }: SpecRun, report: string) {
  const log = openSync(join(directory, `${fileName(spec.name)}.log`), 'w');
  const flags = [
    `--ginkgo.focus=${escapeRegExp(spec.name)}$`,
    '--ginkgo.v',
    '--ginkgo.no-color',
    '--ginkgo.grace-period=2s',
    `--ginkgo.json-report=${report}`,
    // Ours is the limit that counts; the program's own would end it without a report.
    '--test.timeout=0',
    '--ginkgo.timeout=24h',
  ];
  const env = { ...process.env, KUBECONFIG: rig.plane.adminKubeconfig };
  const child = spawn(program, flags, { cwd: directory, env, stdio: ['ignore', log, log] });
  closeSync(log);
  const killAtExit = (): boolean => child.kill('SIGKILL');
  process.once('exit', killAtExit);
  const limits = [
    setTimeout(() => child.kill('SIGINT'), limitMilliseconds),
    setTimeout(() => child.kill('SIGKILL'), limitMilliseconds + CLEAN_UP_MILLISECONDS),
  ];
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  for (const limit of limits) clearTimeout(limit);
  process.off('exit', killAtExit);
  return String(code ?? signal);
}

function complaintOf(found: SpecReport | undefined): string {
  const { Message = '', ProgressReport } = found?.Failure ?? {};
  const step = ProgressReport?.CurrentStepText;
  const where = step ? ` (at the step "${step}")` : '';
  const line = Message.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_COMPLAINT);
  return `${found?.State ?? 'not run'}: ${line}${where}`;
}

/** For Go's regular expressions, which take the same escapes. */
function escapeRegExp(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

function fileName(spec: string): string {
  return spec
    .toLowerCase()
    .replaceAll(/[^a-z\d]+/g, '-')
    .slice(0, 180);
}
