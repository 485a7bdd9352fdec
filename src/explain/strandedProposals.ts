/** Changes of pods and pools that give a node's pods a place elsewhere. */
import type { Pod } from '../api/kinds.ts';
import { mergePatch } from '../kube/mergePatch.ts';
import type { Patch } from '../ledger/explanation.ts';
import { podKey } from '../pods/podKey.ts';
import { applyEdits, type Edit } from '../solver/edit.ts';
import type { UnplacedReason } from '../solver/reasons.ts';
import { findFixes, type Asked } from '../solver/smallestChange.ts';
import type { Workload } from './nodeWorkloads.ts';
import { canChange, podFix } from './podFixes.ts';
import { patchOf, podTarget, type NodePicture, type Proposal } from './proposal.ts';

const MOST = 2;

export function strandedProposals(
  stranded: readonly { readonly pod: string; readonly reason: UnplacedReason }[],
  { workloads, asked }: Pick<NodePicture, 'workloads' | 'asked'>,
): readonly Proposal[] {
  const [first] = stranded;
  if (first === undefined) return [];
  const workload = workloads.find(({ pods }) => pods.some((pod) => podKey(pod) === first.pod));
  const pod = asked.overlay.pods.find((each) => podKey(each) === first.pod);
  if (workload === undefined || pod === undefined) return [];
  const podSpec = canChange(workload.source) ? 'any' : 'tolerations';
  return findFixes(asked, pod, first.reason, MOST, podSpec).map((edits) => asProposal(edits, workload, asked));
}

function asProposal(edits: readonly Edit[], { source, siblings }: Workload, { pools }: Asked): Proposal {
  return { ...podFix(edits, source, pools), effects: siblings.flatMap((pod) => effectOf(edits, pod, pools)) };
}

function effectOf(edits: readonly Edit[], pod: Pod, pools: Asked['pools']): readonly Patch[] {
  const after = applyEdits(edits, { pod, pools }).pod;
  const patch = mergePatch({ spec: pod.spec ?? {} }, { spec: after.spec ?? {} });
  return patch === undefined ? [] : [patchOf(podTarget(pod), patch)];
}
