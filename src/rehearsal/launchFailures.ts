/** What the cloud has refused while a pod waited: nothing but events is left of claims that were not launched. */
import { Kinds, type Event } from '../api/kinds.ts';
import { isForbidden } from '../kube/errors.ts';
import type { Kube } from '../kube/kube.ts';
import type { Explanation, ObjectName } from '../ledger/explanation.ts';
import { LAUNCH_FAILED } from '../ledger/noticeText.ts';
import { podStateText } from '../ledger/podStateText.ts';

/** Answers that say that a node is bought, which is no news for a pod that has waited for the last ones in vain. */
const HOPEFUL: readonly string[] = ['promised', 'planned'];
const RECENT = 10 * 60_000;
const CLAIM = /nodeclaim\/([a-z0-9.-]+)/g;
/** Before what the cloud said. */
const PREFIX = /^(NodeClaim \S+ event|Failed to register): /;

/** The explanation of a pod, with what the cloud refused of late; the same for a pod that does not wait for a node. */
export async function withLaunchFailures(explanation: Explanation, kube: Kube, now: number): Promise<Explanation> {
  const { object, sentence, constraint } = explanation;
  if (!HOPEFUL.includes(constraint)) return explanation;
  const { creationTimestamp } = (await kube.get(Kinds.Pod, { name: object.name, namespace: object.namespace }))
    .metadata;
  const since = Math.max(now - RECENT, Date.parse(creationTimestamp ?? ''));
  const ofPod = await claimsFor(kube, object);
  const failures = (await eventsOf(kube, { kind: Kinds.NodeClaim.kind }))
    .filter(({ involvedObject, reason = '' }) => ofPod.has(involvedObject.name ?? '') && LAUNCH_FAILED.includes(reason))
    .filter((event) => timeOf(event) >= since)
    .sort((one, other) => timeOf(other) - timeOf(one));
  const [latest] = failures;
  if (latest === undefined) return explanation;
  const [message = ''] = (latest.message ?? '').replace(PREFIX, '').split(/\.\s/);
  const state = { kind: 'launch-failures', launches: failures.length, message, next: sentence } as const;
  return {
    ...explanation,
    sentence: podStateText(state),
    constraint: state.kind,
    evidence: [
      ...failures
        .slice(0, 3)
        .map(({ involvedObject, message: told = '' }) => `${involvedObject.name ?? ''}: ${told.replace(PREFIX, '')}`),
      ...explanation.evidence,
    ],
  };
}

/** Claims on which the pod was expected. */
async function claimsFor(kube: Kube, { namespace = 'default', name }: ObjectName): Promise<ReadonlySet<string>> {
  const own = await eventsOf(kube, { kind: Kinds.Pod.kind, name, namespace });
  return new Set(own.flatMap(({ message = '' }) => [...message.matchAll(CLAIM)].map(([, claim = '']) => claim)));
}

/** Events of objects without a namespace are in the default one. Without the right to list them nothing is known. */
async function eventsOf(
  kube: Kube,
  { namespace = 'default', ...about }: { readonly kind: string; readonly name?: string; readonly namespace?: string },
): Promise<readonly Event[]> {
  const fieldSelector = Object.entries(about)
    .map(([field, value]) => `involvedObject.${field}=${value}`)
    .join(',');
  try {
    return (await kube.list(Kinds.Event, { namespace, fieldSelector })).items;
  } catch (error) {
    if (isForbidden(error)) return [];
    throw error;
  }
}

const timeOf = ({ lastTimestamp, eventTime, metadata }: Event): number =>
  Date.parse(lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? '');
