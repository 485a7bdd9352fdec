/** Asks a rehearsal about one pod: why it waits or where it goes, and what would give it a place. */
import { Kinds, type DaemonSet, type PersistentVolumeClaim, type Pod } from '../api/kinds.ts';
import { findCondition } from '../api/conditions.ts';
import { READY } from '../api/conditionTypes.ts';
import type { NodePool } from '../api/kinds/nodePool.ts';
import { Labels } from '../api/labels.ts';
import { apiVersionOf } from '../api/object.ts';
import { explainDaemon, nodeOfDaemon } from '../explain/explainDaemon.ts';
import { explainPod, type PodAnswer } from '../explain/explainPod.ts';
import { comingPods } from '../explain/comingPods.ts';
import { forAll } from '../explain/forAll.ts';
import type { PodSource } from '../explain/podFixes.ts';
import type { PodPicture, PodProposal } from '../explain/podProposal.ts';
import { podProposals, type Obstacle } from '../explain/podProposals.ts';
import { barredPools } from '../explain/poolProposals.ts';
import { ownerOf } from '../explain/nodeWorkloads.ts';
import { podSource } from '../explain/podSource.ts';
import { mergedByTarget } from '../explain/proposal.ts';
import { withoutGates } from '../explain/specEdits.ts';
import { isNotFound } from '../kube/errors.ts';
import type { Kube } from '../kube/kube.ts';
import { remadeText } from '../ledger/changeText.ts';
import type { ExplainedFix, Explanation } from '../ledger/explanation.ts';
import { podStateText } from '../ledger/podStateText.ts';
import { podKey } from '../pods/podKey.ts';
import { isActive, isDaemonPod } from '../pods/podPredicates.ts';
import { poolRequirements } from '../solver/model/compiledPool.ts';
import type { Asked } from '../solver/smallestChange.ts';
import { applyPatches } from './applyPatches.ts';
import { objectsOf } from './clusterObjects.ts';
import { rehearse, type Rehearsal } from './rehearse.ts';
import { zonesOf } from './zonesOf.ts';

export interface PodRef {
  readonly name: string;
  readonly namespace: string;
}

/** Limit on further obstacles examined after a change. */
const MOST_ROUNDS = 3;
/** Limits on proposals rehearsed in one round, and in all rounds. */
const MOST_TRIES = 8;
const MOST_REHEARSALS = 24;
const MOST_FIXES = 3;
/** Limit on siblings to which a change is also applied. */
const MOST_SIBLINGS = 500;

/** Undefined when there is no such pod. */
export async function explainPodIn(rehearsal: Rehearsal, ref: PodRef, kube: Kube): Promise<Explanation | undefined> {
  const pod = rehearsal.world.cluster.pod(ref);
  if (pod === undefined) return undefined;
  const source = await podSource(kube, pod, objectsOf(rehearsal.objects, Kinds.Pod));
  if (isDaemonPod(pod) && isActive(pod) && !pod.spec?.nodeName) {
    return explainDaemon(pod, source, nodeOfDaemon(pod, rehearsal.pass.views));
  }
  const siblings = siblingsOf(rehearsal, pod);
  const coming = await comingPods(kube, objectsOf(rehearsal.objects, Kinds.Pod), ownerOf(pod));
  const around = { source, siblings, coming, kube, smaller: new Set<string>(), rehearsals: { left: MOST_REHEARSALS } };
  let answer = await answerOf(rehearsal, pod, around, MOST_ROUNDS);
  if (answer.obstacle !== undefined && siblings.length > 0 && !answer.fixes.some(isApplicable)) {
    answer = await answerOf(
      rehearsal,
      pod,
      { ...around, siblings: [], rehearsals: { left: MOST_REHEARSALS } },
      MOST_ROUNDS,
    );
  }
  const { obstacle: _, ...explanation } = answer;
  return { ...explanation, fixes: explanation.fixes.map((fix) => told(fix, source)) };
}

/** Constant context while changes are tried. */
interface Surroundings {
  readonly source: PodSource;
  /** Other pods of the same owner. */
  readonly siblings: readonly Pod[];
  /** Pods of other owners that are about to be created. */
  readonly coming: readonly Pod[];
  readonly kube: Kube;
  /** DaemonSets already changed by earlier proposals. */
  readonly smaller: ReadonlySet<string>;
  /** Remaining rehearsals; counted down. */
  readonly rehearsals: { left: number };
}

function siblingsOf({ objects }: Rehearsal, pod: Pod): readonly Pod[] {
  const owner = ownerOf(pod);
  if (owner === undefined) return [];
  return objectsOf(objects, Kinds.Pod)
    .filter((each) => ownerOf(each) === owner && each.metadata.uid !== pod.metadata.uid)
    .slice(0, MOST_SIBLINGS);
}

/** The fix, mentioning if its object must be deleted and created again. */
function told(fix: ExplainedFix, { target }: PodSource): ExplainedFix {
  const isRemade = fix.patches.some(
    (each) => each.type === 'create' && each.target.name === target.name && each.target.kind === target.kind,
  );
  return isRemade ? { ...fix, sentence: remadeText(target, fix.sentence) } : fix;
}

const isApplicable = ({ patches }: ExplainedFix): boolean => patches.length > 0;

/** If the solver has no effective change, other changes are rehearsed, each followed by the next obstacle. */
async function answerOf(rehearsal: Rehearsal, pod: Pod, around: Surroundings, rounds: number): Promise<PodAnswer> {
  const { source } = around;
  const answer = explainPod({ ...questionOf(rehearsal, pod, around, rounds < MOST_ROUNDS), pod, source });
  if (answer.obstacle === undefined || rounds === 0) return answer;
  if (rounds === MOST_ROUNDS && !isNear(answer.obstacle)) {
    const barred = await answerOfBarredPool(rehearsal, pod, around, answer);
    if (barred !== undefined) return barred;
  }
  if (answer.fixes.some(isApplicable)) return answer;
  const found: ExplainedFix[] = [];
  const foundTogether: ExplainedFix[] = [];
  const proposals = podProposals(answer.obstacle, await pictureOf(rehearsal, pod, around)).filter(
    ({ patches }) => !daemonsIn(patches).some((name) => around.smaller.has(name)),
  );
  for (const each of proposals.slice(0, MOST_TRIES)) {
    if ([...found, ...foundTogether].filter(isApplicable).length >= MOST_FIXES) break;
    if (each.patches.length === 0) {
      found.push({ sentence: each.sentence, patches: [] });
      continue;
    }
    if (around.rehearsals.left <= 0) break;
    around.rehearsals.left -= 1;
    const next = await rehearseProposal(rehearsal, each);
    const tried = await fixAfter(next, pod, around, each, rounds);
    if (tried !== undefined) (tried.isEnough ? found : foundTogether).push(tried.fix);
  }
  // A single sufficient change is smaller than a combination.
  const fixes = [...found, ...foundTogether, ...answer.fixes];
  return { ...answer, fixes: [...fixes.filter(isApplicable), ...fixes.filter((each) => !isApplicable(each))] };
}

const rehearseProposal = ({ objects, world }: Rehearsal, { patches, effects }: PodProposal): Promise<Rehearsal> =>
  rehearse({ ...applyPatches(objects, [...patches, ...effects]), cloud: world.cloud });

/** The proposal, with what has to change beside it; undefined when the pod has no place even then. `next` is after the proposal. */
async function fixAfter(
  next: Rehearsal,
  pod: Pod,
  around: Surroundings,
  { sentence, patches, effects, source }: PodProposal,
  rounds: number,
): Promise<{ readonly fix: ExplainedFix; readonly isEnough: boolean } | undefined> {
  const again = next.world.cluster.pod({ name: pod.metadata.name, namespace: pod.metadata.namespace ?? 'default' });
  if (again === undefined) return undefined;
  const smaller = new Set([...around.smaller, ...daemonsIn(patches)]);
  const then = await answerOf(next, again, { ...around, source, smaller }, rounds - 1);
  if (then.obstacle === undefined) return { fix: { sentence, patches }, isEnough: true };
  const behind = then.fixes.find((fix) => isApplicable(fix) && isSeparate(fix, effects));
  if (behind === undefined) return undefined;
  const both = `${sentence}, and ${behind.sentence}`;
  return { fix: { sentence: both, patches: joined(patches, behind.patches, around.source) }, isEnough: false };
}

const daemonsIn = (patches: ExplainedFix['patches']): readonly string[] =>
  patches.flatMap(({ target: { kind, namespace, name } }) =>
    kind === Kinds.DaemonSet.kind ? [`${namespace}/${name}`] : [],
  );

const FAR: readonly string[] = ['taints', 'requirements'];

/** Whether some pool accepts such pods by taints and requirements, and refuses them for another reason. */
function isNear(obstacle: Obstacle): boolean {
  if (obstacle.kind !== 'unplaced' || obstacle.reason.kind === 'no-pools') return obstacle.kind !== 'unplaced';
  return obstacle.reason.kind !== 'refused' || obstacle.reason.pools.some(({ stage }) => !FAR.includes(stage));
}

/** Limit on pools without purchases that are checked for this pod. */
const MOST_BARRED = 3;

async function answerOfBarredPool(
  rehearsal: Rehearsal,
  pod: Pod,
  around: Surroundings,
  answer: PodAnswer,
): Promise<PodAnswer | undefined> {
  const key = podKey(pod);
  for (const { pool, state, proposals } of barredPools(await pictureOf(rehearsal, pod, around)).slice(0, MOST_BARRED)) {
    for (const each of proposals) {
      const next = await rehearseProposal(rehearsal, each);
      const { plannedNodes } = next.moment.ask({ pods: next.moment.demand.waiting }, { explainChoices: false });
      if (!plannedNodes.some((node) => node.pool === pool && node.pods.includes(key))) continue;
      // The pool may have room for this pod and not for all of its owner, any of which may come first.
      const tried = await fixAfter(next, pod, around, each, MOST_ROUNDS);
      return {
        ...answer,
        sentence: podStateText(state),
        constraint: state.kind,
        evidence: [podStateText(state), ...answer.evidence],
        fixes: [...(tried === undefined ? [] : [tried.fix]), ...answer.fixes].slice(0, MOST_FIXES),
      };
    }
  }
  return undefined;
}

/** A rehearsal's assumption about a pool must not get into a patch of the pool. */
function isSeparate({ patches }: ExplainedFix, effects: ExplainedFix['patches']): boolean {
  const assumed = new Set(
    effects.flatMap(({ target, patch }) =>
      target.kind === Kinds.NodePool.kind && 'spec' in patch ? [target.name] : [],
    ),
  );
  return !patches.some(({ target }) => target.kind === Kinds.NodePool.kind && assumed.has(target.name));
}

/** Later patches of the owner include the changes of earlier ones; its new pods replace this one. */
function joined(
  first: ExplainedFix['patches'],
  later: ExplainedFix['patches'],
  { target }: PodSource,
): ExplainedFix['patches'] {
  const key = JSON.stringify(target);
  const isOfOwner = (each: ExplainedFix['patches'][number]): boolean => JSON.stringify(each.target) === key;
  const kept = later.some(isOfOwner)
    ? first.filter((each) => !isOfOwner(each) && each.target.kind !== Kinds.Pod.kind)
    : first;
  return mergedByTarget([...kept, ...later]);
}

/** After a change the pod counts as placed only when its waiting siblings are placed too. */
function questionOf(
  { moment, world }: Rehearsal,
  pod: Pod,
  { source, siblings, coming }: Surroundings,
  isAfterChange: boolean,
) {
  const { demand } = moment;
  const overlay = { pods: demand.waiting };
  const options = { explainChoices: false };
  const objection = demand.ignored.find((each) => podKey(each.pod) === podKey(pod))?.objection;
  const promise = [...demand.promised].find(([, pods]) => pods.some((each) => podKey(each) === podKey(pod)));
  const alone: Asked = {
    pools: moment.offers,
    overlay,
    options,
    solution: moment.ask(overlay, options),
    ask: (...question) => moment.ask(...question),
  };
  const own = {
    pod,
    siblings: new Set(siblings.map(podKey)),
    inSteps: source.target.kind === 'Deployment',
    isRemade: isAfterChange && source.edited !== undefined,
    held: siblings.filter(isGated).map((each) => ({ ...each, spec: withoutGates(each.spec ?? { containers: [] }) })),
  };
  const askedForAll = forAll(coming.length === 0 ? alone : withPods(alone, coming), own);
  return {
    ...(objection && { objection }),
    ...(promise && { promisedClaim: promise[0] }),
    staticPools: [...world.informers.nodePools.store.list()].filter(isReadyStatic).map(({ metadata }) => metadata.name),
    asked: isAfterChange ? askedForAll : alone,
    askedForFixes: askedForAll,
  };
}

const isReadyStatic = (pool: NodePool): boolean =>
  pool.spec.replicas !== undefined &&
  pool.metadata.deletionTimestamp === undefined &&
  findCondition(pool, READY)?.status === 'True';

const isGated = ({ spec }: Pod): boolean => !spec?.nodeName && (spec?.schedulingGates ?? []).length > 0;

/** The same question with other pods that want room. */
function withPods(asked: Asked, more: readonly Pod[]): Asked {
  const overlay = { ...asked.overlay, pods: [...asked.overlay.pods, ...more] };
  return { ...asked, overlay, solution: asked.ask(overlay, asked.options, asked.pools) };
}

const withoutRequirement = (pool: NodePool, without: string): NodePool => {
  const { template } = pool.spec;
  const requirements = template.spec.requirements.filter(({ key }) => key !== without);
  return { ...pool, spec: { ...pool.spec, template: { ...template, spec: { ...template.spec, requirements } } } };
};

/** As on the server. */
async function claimsOf({ metadata, spec }: Pod, kube: Kube): Promise<readonly PersistentVolumeClaim[]> {
  const { namespace = 'default' } = metadata;
  const names = (spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim) return [persistentVolumeClaim.claimName];
    return ephemeral ? [`${metadata.name}-${name}`] : [];
  });
  const found = await Promise.all(
    names.slice(0, MOST_TRIES).map(async (name): Promise<PersistentVolumeClaim[]> => {
      try {
        return [await kube.get(Kinds.PersistentVolumeClaim, { namespace, name })];
      } catch (error) {
        if (isNotFound(error)) return [];
        throw error;
      }
    }),
  );
  return found.flat();
}

/** Within a priority, the pod that waits longest is tried first: a recreated pod comes last. */
function isRival(other: Pod, pod: Pod): boolean {
  const isOwn = podKey(other) === podKey(pod) || (ownerOf(pod) !== undefined && ownerOf(other) === ownerOf(pod));
  return !isOwn && (other.spec?.priority ?? 0) >= (pod.spec?.priority ?? 0);
}

async function pictureOf(
  { world, pass, moment, objects }: Rehearsal,
  pod: Pod,
  { source, siblings, coming, kube }: Surroundings,
): Promise<PodPicture> {
  const { nodePools, nodeClasses, storageClasses, daemonSets } = world.informers;
  const poolNodes = new Map<string, number>();
  for (const { nodePool = '', claim } of pass.views) {
    if (claim !== undefined) poolNodes.set(nodePool, (poolNodes.get(nodePool) ?? 0) + 1);
  }
  // Trimmed copies lack most fields of containers.
  const stored = await Promise.all(
    [...daemonSets.store.list()]
      .slice(0, MOST_TRIES)
      .map(({ metadata }): Promise<DaemonSet> => kube.get(Kinds.DaemonSet, metadata)),
  );
  const volumeClaims = await claimsOf(pod, kube);
  return {
    pod,
    siblings,
    waitingPods: moment.demand.waiting.length + coming.length,
    rivals: moment.demand.waiting.filter((each) => isRival(each, pod)).slice(0, MOST_SIBLINGS),
    source,
    pools: [...nodePools.store.list()],
    nodeClasses: nodeClasses.flatMap(({ kind, informer }) =>
      [...informer.store.list()].map((object) => ({ ...object, kind: kind.kind, apiVersion: apiVersionOf(kind) })),
    ),
    storageClasses: [...storageClasses.store.list()],
    volumeClaims,
    zones: zonesOf(pod, volumeClaims, objects),
    daemonSets: stored,
    poolNodes,
    isSoldIn: (name, zone) =>
      (pass.pools.get(name)?.instanceTypes ?? []).some(({ offerings }) =>
        offerings.some(({ available, requirements }) => available && requirements.get(Labels.zone).has(zone)),
      ),
    cheapestType: (name, without) => {
      const { pool, instanceTypes = [] } = pass.pools.get(name) ?? {};
      if (pool === undefined) return undefined;
      const wanted = poolRequirements(without === undefined ? pool : withoutRequirement(pool, without));
      const [cheapest] = instanceTypes
        .filter(({ requirements }) => wanted.intersects(requirements))
        .flatMap((type) =>
          type.offerings
            .filter(({ available, requirements }) => available && wanted.intersects(requirements))
            .map(({ price }) => ({ name: type.name, price })),
        )
        .sort((one, other) => one.price - other.price);
      return cheapest?.name;
    },
  };
}
