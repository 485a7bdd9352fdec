/**
 * The proof of `explain`: every waiting pod and every kept node has a constraint, and the first fix, applied in the
 * cluster with the controller running, changes the outcome.
 */
import type { Pod } from '../../src/api/kinds.ts';
import { Labels } from '../../src/api/labels.ts';
import { KubeError } from '../../src/kube/errors.ts';
import type { ExplainedFix, Explanation } from '../../src/ledger/explanation.ts';
import { podKey } from '../../src/pods/podKey.ts';
import { SeededRandom } from '../../src/clock/seededRandom.ts';
import { ProvingGround } from '../fixtures/explain/provingGround.ts';
import { drawFrom, fillAtRandom } from '../fixtures/explain/randomGround.ts';

const SETTLED = 8 * 60_000;

/** All verdicts of one random cluster. */
export async function proveCluster(seed: string): Promise<readonly Verdict[]> {
  const ground = await ProvingGround.start(seed);
  try {
    await fillAtRandom(ground.kube, drawFrom(new SeededRandom(`fill ${seed}`)));
    await ground.advance(SETTLED);
    return [...(await provePods(ground)), ...(await proveNodes(ground))];
  } finally {
    await ground.stop();
  }
}

export interface Verdict {
  readonly subject: string;
  readonly constraint: string;
  readonly sentence: string;
  /** The first fix; undefined when there is none. */
  readonly fix?: string;
  readonly patches: unknown;
  /**
   * `flipped`; `no patch` when a step other than a patch is needed; `no fix`; `wrong`, with the observation; `overtaken`
   * when a pod that did not exist yet has come to a node that was to go.
   */
  readonly outcome: 'flipped' | 'no patch' | 'no fix' | 'wrong' | 'waits' | 'outdated' | 'overtaken';
  readonly seen?: string;
}

const MINUTE = 60_000;
/** Milliseconds in which a pod must get its node, and a node must be removed. */
const PATIENCE = { pod: 15 * MINUTE, node: 45 * MINUTE };

const nameOf = ({ metadata }: Pod): string => metadata.labels?.['app'] ?? metadata.name;
const madeAt = ({ metadata }: Pod): string => metadata.creationTimestamp ?? '';
const isWaiting = ({ spec, status, metadata }: Pod): boolean =>
  !spec?.nodeName && status?.phase === 'Pending' && metadata.deletionTimestamp === undefined;

function verdict(subject: string, { constraint, sentence, fixes }: Explanation): Omit<Verdict, 'outcome'> {
  const [first] = fixes;
  return { subject, constraint, sentence, ...(first && { fix: first.sentence }), patches: first?.patches };
}

/** Every waiting pod, one after the other, unless the fix for another one has already placed it. */
async function provePods(ground: ProvingGround): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = [];
  const seen = new Set<string>();
  const outdated: { readonly uid: string | undefined; readonly said: Verdict }[] = [];
  for (;;) {
    const pod = (await ground.pods()).find((each) => isWaiting(each) && !seen.has(each.metadata.uid ?? ''));
    if (pod === undefined) break;
    const { uid } = pod.metadata;
    seen.add(uid ?? '');
    const said = await provePod(ground, pod);
    if (said.outcome === 'outdated') outdated.push({ uid, said });
    else verdicts.push(said);
  }
  if (outdated.length > 0) await ground.advance(PATIENCE.pod);
  const left = new Set((await ground.pods()).filter(isWaiting).map(({ metadata }) => metadata.uid));
  for (const { uid, said } of outdated) verdicts.push({ ...said, outcome: left.has(uid) ? 'wrong' : 'waits' });
  return verdicts;
}

/** Outcomes of a pod for which nothing needs to change. */
const PLACED: readonly string[] = ['promised', 'planned', 'fits', 'launch-failures'];

async function provePod(ground: ProvingGround, pod: Pod): Promise<Verdict> {
  const { name, namespace = 'default' } = pod.metadata;
  const explanation = await ground.explain({ kind: 'pod', name, namespace });
  const said = verdict(`pod ${name}`, explanation);
  // Its owner is replacing it: the new pod counts, and is proven itself.
  if (explanation.constraint === 'outdated') return { ...said, outcome: 'outdated' };
  const [fix] = explanation.fixes;
  const isPassing = PLACED.includes(explanation.constraint);
  if (fix === undefined && !isPassing) return { ...said, outcome: 'no fix' };
  if (fix?.patches.length === 0) return { ...said, outcome: 'no patch' };
  const before = await placed(ground, pod);
  const refused = fix && (await refusal(ground, fix));
  if (refused !== undefined) return { ...said, outcome: 'wrong', seen: refused };
  let step = 0;
  for (let waited = 0; waited < PATIENCE.pod; waited += step) {
    // A pod without an owner may have to leave soon after it was bound.
    step = waited < MINUTE ? 5_000 : MINUTE;
    await ground.advance(step);
    if (await hasPlace(ground, pod, before)) return { ...said, outcome: isPassing ? 'waits' : 'flipped' };
  }
  const left = (await ground.pods()).filter((each) => nameOf(each) === nameOf(pod) && isWaiting(each));
  const [latest] = left.toSorted((one, other) => (madeAt(one) < madeAt(other) ? 1 : -1));
  const after = latest && (await ground.explain({ kind: 'pod', name: latest.metadata.name, namespace }));
  return { ...said, outcome: 'wrong', seen: `${latest?.metadata.name} ${after?.constraint}: ${after?.sentence}` };
}

/** Why the API server does not take the fix; undefined when it does. */
async function refusal(ground: ProvingGround, fix: ExplainedFix): Promise<string | undefined> {
  try {
    await ground.apply(fix);
    return undefined;
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    return error.message;
  }
}

async function placed(ground: ProvingGround, pod: Pod): Promise<ReadonlySet<string>> {
  const own = (await ground.pods()).filter((each) => nameOf(each) === nameOf(pod) && each.spec?.nodeName);
  return new Set(own.map(({ metadata }) => metadata.uid ?? ''));
}

/** The pod runs, or its replacement by its owner. */
async function hasPlace(ground: ProvingGround, pod: Pod, before: ReadonlySet<string>): Promise<boolean> {
  const pods = await ground.pods();
  const same = pods.find(({ metadata }) => metadata.uid === pod.metadata.uid);
  if (same?.spec?.nodeName) return true;
  const now = await placed(ground, pod);
  return same === undefined && [...now].some((uid) => !before.has(uid));
}

/** Outcomes that time alone changes. */
const PASSING: readonly string[] = ['nominated', 'no-node', 'not-initialized', 'deleting', 'queued', 'next-pass'];

/** Every node of a NodePool, one after the other, unless it was removed with another. */
async function proveNodes(ground: ProvingGround): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = [];
  const first = (await ground.nodes()).filter(({ metadata }) => metadata.labels?.[Labels.nodePool] !== undefined);
  for (const { metadata } of first) {
    const isThere = (await ground.nodes()).some((node) => node.metadata.name === metadata.name);
    if (isThere) verdicts.push(await proveNode(ground, metadata.name));
  }
  return verdicts;
}

async function proveNode(ground: ProvingGround, name: string): Promise<Verdict> {
  const before = new Set((await ground.pods()).map(({ metadata }) => metadata.uid));
  const explanation = await ground.explain({ kind: 'node', name });
  const said = verdict(`node ${name}`, explanation);
  const [fix] = explanation.fixes;
  const isPassing = explanation.constraint === 'going' || PASSING.includes(explanation.constraint);
  if (isPassing) {
    const gone = await isGone(ground, name);
    if (gone || explanation.constraint !== 'going') return { ...said, outcome: 'waits' };
    const isTaken = (await ground.pods()).some(
      ({ metadata, spec }) => spec?.nodeName === name && !before.has(metadata.uid),
    );
    return { ...said, outcome: isTaken ? 'overtaken' : 'wrong', seen: 'is to go' };
  }
  if (fix === undefined) return { ...said, outcome: 'no fix' };
  if (fix.patches.length === 0) return { ...said, outcome: 'no patch' };
  const refused = await refusal(ground, fix);
  if (refused !== undefined) return { ...said, outcome: 'wrong', seen: refused };
  if (await isGone(ground, name)) return { ...said, outcome: 'flipped' };
  const after = await ground.explain({ kind: 'node', name });
  const on = (await ground.pods()).filter(({ spec }) => spec?.nodeName === name).map(podKey);
  return { ...said, outcome: 'wrong', seen: `${after.constraint}: ${after.sentence} [${on.join()}]` };
}

async function isGone(ground: ProvingGround, name: string): Promise<boolean> {
  for (let waited = 0; waited < PATIENCE.node; waited += 3 * MINUTE) {
    if (!(await ground.nodes()).some(({ metadata }) => metadata.name === name)) return true;
    await ground.advance(3 * MINUTE);
  }
  return false;
}
