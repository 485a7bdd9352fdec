/** Asks a rehearsal about one pod: why it waits, or where it goes. */
import { explainPod } from '../explain/explainPod.ts';
import { podSource } from '../explain/podSource.ts';
import type { Kube } from '../kube/kube.ts';
import type { Explanation } from '../ledger/explanation.ts';
import { podKey } from '../pods/podKey.ts';
import type { Rehearsal } from './rehearse.ts';

/** Undefined when there is no such pod. */
export async function explainPodIn(
  { world, moment }: Rehearsal,
  ref: { readonly name: string; readonly namespace: string },
  kube: Kube,
): Promise<Explanation | undefined> {
  const pod = world.cluster.pod(ref);
  if (pod === undefined) return undefined;
  const { demand } = moment;
  const overlay = { pods: demand.waiting };
  const options = { explainChoices: false };
  const objection = demand.ignored.find((each) => podKey(each.pod) === podKey(pod))?.objection;
  const promise = [...demand.promised].find(([, pods]) => pods.some((each) => podKey(each) === podKey(pod)));
  return explainPod({
    pod,
    source: await podSource(kube, pod),
    ...(objection && { objection }),
    ...(promise && { promisedClaim: promise[0] }),
    asked: {
      pools: moment.offers,
      overlay,
      options,
      solution: moment.ask(overlay, options),
      ask: (again, how, pools) => moment.ask(again, how, pools),
    },
  });
}
