/** Waiting pods by owner, with the result of the last plan, or with what keeps them out of every plan. */
import type { Pod } from '../../api/kinds.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { objectionText } from '../../ledger/objectionText.ts';
import { podStateText } from '../../ledger/podStateText.ts';
import { reasonText } from '../../ledger/reasonText.ts';
import { DEFAULT_SCHEDULER, podKey } from '../../pods/podKey.ts';
import { workloadOf } from '../../rehearsal/costReportOf.ts';
import type { Picture } from '../picture.ts';
import type { PendingGroup, PendingScreen } from '../screens.ts';

export function pendingScreen({ time, pendingPods, heldPods }: Picture, ledger: Ledger): PendingScreen {
  const said = new Map(saidOf(ledger));
  const groups = new Map<string, { pods: Pod[]; since: number }>();
  const held = new Set(heldPods);
  for (const pod of held) said.set(podKey(pod), { reason: heldText(pod) });
  for (const pod of new Set([...pendingPods, ...heldPods])) {
    const workload = workloadOf(pod);
    const since = Date.parse(pod.metadata.creationTimestamp ?? '') || time;
    const group = groups.get(workload);
    if (group === undefined) groups.set(workload, { pods: [pod], since });
    else {
      group.pods.push(pod);
      group.since = Math.min(group.since, since);
    }
  }
  return {
    time,
    groups: [...groups]
      .map(([workload, { pods, since }]) => ({
        workload,
        count: pods.length,
        counted: pods.filter((pod) => !held.has(pod)).length,
        since,
        ...exampleOf(pods, said),
      }))
      .sort((left, right) => Number(isPromised(left)) - Number(isPromised(right)) || right.count - left.count),
  };
}

/** Why no node is planned for a pod that waits. */
function heldText({ spec }: Pod): string {
  const gates = (spec?.schedulingGates ?? []).map(({ name }) => name);
  if (gates.length > 0) return podStateText({ kind: 'gated', gates });
  const { schedulerName: scheduler = DEFAULT_SCHEDULER } = spec ?? {};
  if (scheduler !== DEFAULT_SCHEDULER) return podStateText({ kind: 'other-scheduler', scheduler });
  return podStateText({ kind: 'daemon' });
}

const isPromised = ({ promised }: Pick<PendingGroup, 'promised'>): boolean => promised !== undefined;

type Said = { readonly reason: string } | { readonly promised: string };

/** The last record about each pod named in entries. */
function saidOf(ledger: Ledger): ReadonlyMap<string, Said> {
  const said = new Map<string, Said>();
  for (const entry of ledger.entries()) {
    if (entry.kind === 'refusal') note(said, entry.pods.names, { reason: reasonText(entry.reason) });
    else if (entry.kind === 'objection') note(said, entry.pods.names, { reason: objectionText(entry.objection) });
    else if (entry.kind === 'launch') note(said, entry.pods.names, { promised: entry.nodeClaim });
    else if (entry.kind === 'nomination') {
      note(said, entry.pods.names, { promised: entry.nodeClaim ?? entry.node ?? '' });
    }
  }
  return said;
}

function note(said: Map<string, Said>, pods: readonly string[], what: Said): void {
  for (const pod of pods) said.set(pod, what);
}

/** Preferably a refused pod, not one that only waits for its node. */
function exampleOf(
  pods: readonly Pod[],
  said: ReadonlyMap<string, Said>,
): Pick<PendingGroup, 'example' | 'reason' | 'promised'> {
  const keys = pods.map(podKey);
  const refused = keys.find((key) => 'reason' in (said.get(key) ?? {}));
  const promised = keys.find((key) => 'promised' in (said.get(key) ?? {}));
  const example = refused ?? promised ?? keys[0] ?? '';
  const what = said.get(example);
  if (what !== undefined && 'promised' in what) return { example, reason: '', promised: what.promised };
  return { example, reason: what?.reason ?? '' };
}
