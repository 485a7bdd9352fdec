/** Pods without a place in any plan, by workload. */
import { podKey } from '../pods/podKey.ts';
import type { Pod } from '../api/kinds.ts';
import type { Kube } from '../kube/kube.ts';
import type { ObjectName } from '../ledger/explanation.ts';
import type { Finding } from '../ledger/finding.ts';
import { explainPodIn } from './explainPodIn.ts';
import { findingOf } from './findingOf.ts';
import type { Rehearsal } from './rehearse.ts';

/** Limit on reported workloads, those with most pods first. */
const MOST = 5;

export async function stuckFindings(rehearsal: Rehearsal, kube: Kube): Promise<readonly Finding[]> {
  const { moment } = rehearsal;
  const waiting = new Map(moment.demand.waiting.map((pod) => [podKey(pod), pod]));
  if (waiting.size === 0) return [];
  const byOwner = new Map<string, Pod[]>();
  for (const { pod: key } of moment.ask({ pods: moment.demand.waiting }, { explainChoices: false }).unplaced) {
    const pod = waiting.get(key);
    if (pod === undefined) continue;
    const { kind, namespace, name } = ownerOf(pod);
    const owner = `${kind}/${namespace}/${name}`;
    const known = byOwner.get(owner);
    if (known === undefined) byOwner.set(owner, [pod]);
    else known.push(pod);
  }
  const found: Finding[] = [];
  for (const pods of [...byOwner.values()].sort((one, other) => other.length - one.length).slice(0, MOST)) {
    const [pod] = pods;
    if (pod === undefined) continue;
    const { name, namespace = 'default' } = pod.metadata;
    const answer = await explainPodIn(rehearsal, { name, namespace }, kube);
    if (answer === undefined) continue;
    const trap = { check: 'pods-stuck', pods: pods.length, example: podKey(pod), sentence: answer.sentence } as const;
    found.push(findingOf('error', ownerOf(pod), trap, answer.fixes));
  }
  return found;
}

function ownerOf({ metadata }: Pod): ObjectName {
  const owner = (metadata.ownerReferences ?? []).find(({ controller }) => controller === true);
  return {
    apiVersion: owner?.apiVersion ?? 'v1',
    kind: owner?.kind ?? 'Pod',
    namespace: metadata.namespace ?? 'default',
    name: owner?.name ?? metadata.name,
  };
}
