/** The specs of Karpenter's regression suite: full name and area of each, in the order of the suite. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface Spec {
  /** As Ginkgo matches it: the texts of all containers and of the spec itself. */
  readonly name: string;
  readonly area: Area;
}

/** The part of a report by Ginkgo that is read here. */
export interface SpecReport {
  readonly ContainerHierarchyTexts: readonly string[] | null;
  readonly LeafNodeType: string;
  readonly LeafNodeText: string;
  readonly State: string;
  readonly RunTime: number;
  readonly Failure?: { readonly Message?: string; readonly ProgressReport?: { readonly CurrentStepText?: string } };
}

/** The beginning of a spec's name says its area; the first that fits counts. */
const BEGINNINGS = [
  ['Termination', 'termination'],
  ['CapacityBuffer', 'buffers'],
  ['Chaos', 'chaos'],
  ['NodeClaim', 'nodeclaim'],
  ['Integration Validation Repair Policy', 'repair'],
  ['Integration Validation', 'validation'],
  ['Integration', 'provisioning'],
  ['Drift', 'drift'],
  ['StaticCapacity', 'static'],
  ['Performance', 'performance'],
  ['Expiration', 'expiration'],
] as const;

export type Area = (typeof BEGINNINGS)[number][1];

export const AREAS: readonly Area[] = BEGINNINGS.map(([, area]) => area);

/** A seed, because Ginkgo shuffles what it runs. */
const LISTING = ['--ginkgo.dry-run', '--ginkgo.seed=1'];

export const nameOf = ({ ContainerHierarchyTexts, LeafNodeText }: SpecReport): string =>
  [...(ContainerHierarchyTexts ?? []), LeafNodeText].join(' ');

/** Asks the program, which knows them only while it runs; `flags` are Ginkgo's own, such as a focus. */
export async function listSpecs(program: string, flags: readonly string[] = []): Promise<readonly Spec[]> {
  const directory = await mkdtemp(join(tmpdir(), 'nodewright-upstream-'));
  const report = join(directory, 'specs.json');
  try {
    await promisify(execFile)(program, [...LISTING, `--ginkgo.json-report=${report}`, ...flags]);
    return (await readReports(report))
      .filter(({ LeafNodeType, State }) => LeafNodeType === 'It' && State === 'passed')
      .map((spec) => ({ name: nameOf(spec), area: areaOf(nameOf(spec)) }));
  } finally {
    await rm(directory, { recursive: true });
  }
}

export async function readReports(path: string): Promise<readonly SpecReport[]> {
  const suites = JSON.parse(await readFile(path, 'utf8')) as readonly { readonly SpecReports: readonly SpecReport[] }[];
  return suites.flatMap(({ SpecReports }) => SpecReports);
}

function areaOf(name: string): Area {
  const found = BEGINNINGS.find(([beginning]) => name.startsWith(`${beginning} `));
  if (!found) throw new Error(`The spec "${name}" belongs to no known area; add one to test/upstream/spec.ts.`);
  return found[1];
}
