/** Groups the pods of a demand into classes that schedule alike, largest first. */
import { podKey } from '../../pods/podKey.ts';
import type { Pod } from '../../api/kinds.ts';
import { intAt, itemAt } from '../rows.ts';
import type { Counters } from './counters.ts';
import type { Kinds } from './kinds.ts';
import { Matcher } from './matcher.ts';
import type { Model } from './model.ts';
import type { PodClass, Variant } from './podClass.ts';
import type { PodLoad, PodRules, PodShape } from './podShape.ts';
import type { TermCounters } from './termCounters.ts';
import { copyOf, variantOf } from './variants.ts';

/** Pods with different loads, rules or counters are in different classes. */
export function podClasses(
  pods: readonly Pod[],
  { loads, loadOf, rules, rulesOf }: Kinds,
  counters: Counters,
  terms: TermCounters,
  model: Model,
): PodClass[] {
  const { signatures, signatureOf } = Matcher.of(counters).match(pods);
  const members = new Map<number, Pod[]>();
  for (let at = 0; at < pods.length; at++) {
    const rank = (intAt(loadOf, at) * rules.length + intAt(rulesOf, at)) * signatures.length + intAt(signatureOf, at);
    const known = members.get(rank);
    if (known === undefined) members.set(rank, [itemAt(pods, at)]);
    else known.push(itemAt(pods, at));
  }
  // Counters and preferences do not depend on the load: computed once per rules.
  const hostAdds = signatures.map(({ counted }) =>
    counted.filter((id) => counters.at(id).hostname && counters.at(id).spec.kind !== 'owners'),
  );
  const variants: (readonly Variant[] | undefined)[] = [];
  const classes: PodClass[] = [];
  for (const rank of Float64Array.from(members.keys()).sort()) {
    const own = members.get(rank) ?? [];
    const signature = rank % signatures.length;
    const pair = Math.floor(rank / signatures.length);
    const { load, key, row, unknownResource } = itemAt(loads, Math.floor(pair / rules.length));
    const { rules: its, text, rungs, tolerationsKey } = itemAt(rules, pair % rules.length);
    const { counted, text: countedBy } = itemAt(signatures, signature);
    const kind = (pair % rules.length) * signatures.length + signature;
    const shared = (variants[kind] ??= rungs.map((rung) => variantOf(its, rung, counted, counters, terms, model)));
    classes.push({
      id: classes.length,
      shape: shapeOf(load, its),
      equivalenceKey: `${key}\n${text}\n${countedBy}`,
      row,
      tolerationsKey,
      pods: own.length === 1 ? own : sortByName(own),
      unknownResource,
      hostAdds: itemAt(hostAdds, signature),
      variants: shared.map(copyOf),
    });
  }
  return classes;
}

function shapeOf({ requests, hostPorts, unsupported }: PodLoad, rules: PodRules): PodShape {
  const { terms, preferredTerms, tolerations, volumes, topology, priority, group } = rules;
  return {
    requests,
    hostPorts,
    unsupported,
    terms,
    preferredTerms,
    tolerations,
    volumes,
    topology,
    priority,
    group,
  };
}

/** Usually all pods are in one namespace: then compare names without building keys. */
function sortByName(pods: Pod[]): Pod[] {
  const { namespace } = itemAt(pods, 0).metadata;
  if (pods.every(({ metadata }) => metadata.namespace === namespace)) {
    return pods.sort((left, right) => (left.metadata.name < right.metadata.name ? -1 : 1));
  }
  const keyed = pods.map((pod) => ({ pod, key: podKey(pod) }));
  keyed.sort((left, right) => (left.key < right.key ? -1 : 1));
  return keyed.map(({ pod }) => pod);
}
