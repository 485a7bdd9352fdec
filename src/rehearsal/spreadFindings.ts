/** Workloads whose spread costs money: their nodes would be cheaper with a looser spread. */
import { Kinds, type Pod } from '../api/kinds.ts';
import { podSource } from '../explain/podSource.ts';
import { templatePatches, type PodSource } from '../explain/podFixes.ts';
import type { Kube } from '../kube/kube.ts';
import type { Finding } from '../ledger/finding.ts';
import type { Remedy } from '../ledger/remedy.ts';
import { remedyText } from '../ledger/remedyText.ts';
import { podKey } from '../pods/podKey.ts';
import { isDaemonPod, isReschedulable } from '../pods/podPredicates.ts';
import { objectsOf } from './clusterObjects.ts';
import { findingOf } from './findingOf.ts';
import { HOURS_PER_MONTH } from './nodeFactsOf.ts';
import type { Rehearsal } from './rehearse.ts';

/** Limit on workloads planned again, those with most pods first. */
const MOST = 5;
/** Share of the price from which a finding is reported. */
const WORTH_A_WORD = 0.02;

type Spec = PodSource['spec'];
type Loosen = (spec: Spec) => Spec;

/** The smallest change first. Making the spread soft is not enough: it is still followed where possible. */
const LOOSER: readonly { readonly remedy: Remedy; readonly loosen: Loosen }[] = [
  {
    remedy: { kind: 'double-skew' },
    loosen: (spec) => withSpread(spec, (each) => [isHard(each) ? { ...each, maxSkew: each.maxSkew * 2 } : each]),
  },
  { remedy: { kind: 'drop-spread' }, loosen: (spec) => withSpread(spec, (each) => (isHard(each) ? [] : [each])) },
];

export async function spreadFindings(rehearsal: Rehearsal, kube: Kube): Promise<readonly Finding[]> {
  const found: Finding[] = [];
  const groups = [...spreadPods(rehearsal).values()].sort((one, other) => other.length - one.length);
  for (const pods of groups.slice(0, MOST)) {
    const [pod] = pods;
    if (pod === undefined) continue;
    const hard = planAnew(rehearsal, pods, (spec) => spec);
    const looser = LOOSER.map((each) => ({ ...each, after: planAnew(rehearsal, pods, each.loosen) })).filter(
      ({ after }) => hard.price - after.price > hard.price * WORTH_A_WORD,
    );
    const best = looser.at(-1)?.after;
    if (best === undefined) continue;
    const source = await podSource(kube, pod, objectsOf(rehearsal.objects, Kinds.Pod));
    const trap = {
      check: 'spread-blocks',
      keys: [...new Set(hardSpread(pod).map(({ topologyKey }) => topologyKey))],
      pods: pods.length,
      nodes: hard.nodes - best.nodes,
      savingsPerMonth: (hard.price - best.price) * HOURS_PER_MONTH,
    } as const;
    const fixes = looser.map(({ remedy, loosen }) => ({
      sentence: remedyText(remedy),
      patches: templatePatches(source, loosen(source.spec)),
    }));
    found.push(findingOf('warning', source.target, trap, fixes));
  }
  return found;
}

/** Cost of the nodes of these pods if everything on them is planned again. */
function planAnew({ moment, pass }: Rehearsal, own: readonly Pod[], loosen: Loosen): { nodes: number; price: number } {
  const isOwn = new Set(own.map(podKey));
  const views = pass.views.filter(
    ({ claim, pods }) => claim !== undefined && pods.some((pod) => isOwn.has(podKey(pod))),
  );
  const pods = views
    .flatMap((view) => view.pods.filter((pod) => isReschedulable(pod) && !isDaemonPod(pod)))
    .map((pod) => (isOwn.has(podKey(pod)) ? { ...pod, spec: loosen(pod.spec ?? { containers: [] }) } : pod));
  const others = pass.views.filter((view) => !views.includes(view)).map(({ name }) => name);
  const { plannedNodes } = moment.ask(
    { pods, withoutNodes: new Set(views.map(({ name }) => name)), closedNodes: new Set(others) },
    { searchRounds: 0, reservedCapacity: 'Fallback' },
  );
  const price = plannedNodes.reduce((sum, { alternatives }) => sum + (alternatives[0]?.pricePerHour ?? 0), 0);
  return { nodes: plannedNodes.length, price };
}

type Spread = NonNullable<Spec['topologySpreadConstraints']>[number];

const isHard = ({ whenUnsatisfiable }: Spread): boolean => whenUnsatisfiable === 'DoNotSchedule';
const hardSpread = ({ spec }: Pick<Pod, 'spec'>): readonly Spread[] =>
  (spec?.topologySpreadConstraints ?? []).filter(isHard);

function withSpread(spec: Spec, change: (constraint: Spread) => Spread[]): Spec {
  return { ...spec, topologySpreadConstraints: (spec.topologySpreadConstraints ?? []).flatMap(change) };
}

/** By owner. */
function spreadPods({ pass }: Rehearsal): ReadonlyMap<string, readonly Pod[]> {
  const groups = new Map<string, Pod[]>();
  for (const { claim, pods } of pass.views) {
    if (claim === undefined) continue;
    for (const pod of pods) {
      if (hardSpread(pod).length === 0 || !isReschedulable(pod) || isDaemonPod(pod)) continue;
      const owner = (pod.metadata.ownerReferences ?? []).find(({ controller }) => controller === true);
      const key = `${pod.metadata.namespace}/${owner?.uid ?? pod.metadata.name}`;
      const known = groups.get(key);
      if (known === undefined) groups.set(key, [pod]);
      else known.push(pod);
    }
  }
  return groups;
}
