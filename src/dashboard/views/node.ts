/** One node: facts, why it was bought, why it is kept, and its pods. */
import { messageOf } from '../../errors/thrown.ts';
import { unexplainedText } from '../../ledger/explanationText.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { podKey } from '../../pods/podKey.ts';
import { podRequests } from '../../pods/podRequests.ts';
import { workloadOf } from '../../rehearsal/costReportOf.ts';
import { quantityOf } from '../../units/resources.ts';
import type { Pod } from '../../api/kinds.ts';
import type { Answers } from '../answers.ts';
import type { Frame } from '../feed.ts';
import type { NodePod, NodeScreen } from '../screens.ts';
import { decisionsAbout } from './decisions.ts';

const GIB = 2 ** 30;
const SHOWN_DECISIONS = 30;

export async function nodeScreen(
  { picture, rows, time }: Frame,
  name: string,
  ledger: Ledger,
  answers: Answers,
): Promise<NodeScreen | undefined> {
  const at = picture.views.findIndex((view) => view.name === name || view.claim?.metadata.name === name);
  const [view, node] = [picture.views[at], rows[at]];
  if (view === undefined || node === undefined) return undefined;
  const nodeClaim = view.claim?.metadata.name ?? '';
  const pods = view.pods.map(nodePod).sort((left, right) => right.cpu - left.cpu || (left.name < right.name ? -1 : 1));
  const about = { time, node, nodeClaim, pods, decisions: decisionsAbout(ledger, [name, nodeClaim], SHOWN_DECISIONS) };
  const unknown = { boughtForPods: 0, replaces: [], offerings: [], today: [] };
  if (nodeClaim === '') return { ...about, ...unknown, unexplained: unexplainedText({ kind: 'agent-pool' }) };
  try {
    const answer = await answers.node(nodeClaim);
    if (answer === undefined) return { ...about, ...unknown, unexplained: unexplainedText({ kind: 'unknown' }) };
    return { ...about, ...answer };
  } catch (error) {
    return { ...about, ...unknown, unexplained: unexplainedText({ kind: 'failed', problem: messageOf(error) }) };
  }
}

export function nodePod(pod: Pod): NodePod {
  const requests = podRequests(pod);
  return {
    name: podKey(pod),
    workload: workloadOf(pod),
    cpu: quantityOf(requests, 'cpu').milliValue() / 1000,
    memory: quantityOf(requests, 'memory').value() / GIB,
  };
}
