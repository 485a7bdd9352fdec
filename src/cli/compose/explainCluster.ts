/** Composition root of `nodewright explain`. */
import type { KubeObject } from '../../api/object.ts';
import { InvariantError } from '../../errors/invariantError.ts';
import { NodewrightError } from '../../errors/nodewrightError.ts';
import { appliedManifests } from '../../explain/appliedManifests.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { Kube } from '../../kube/kube.ts';
import type { ExplainedFix, Explanation, ObjectName, Patch } from '../../ledger/explanation.ts';
import { kindOf } from '../../rehearsal/applyPatches.ts';
import { explainNodeIn } from '../../rehearsal/explainNodeIn.ts';
import { explainPodIn } from '../../rehearsal/explainPodIn.ts';
import { explainPoolIn } from '../../rehearsal/explainPoolIn.ts';
import { withLaunchFailures } from '../../rehearsal/launchFailures.ts';
import { rehearse, type Rehearsal } from '../../rehearsal/rehearse.ts';
import type { ClusterSource } from './clusterSource.ts';

/** The object of the question. */
export type Subject =
  | { readonly kind: 'pod'; readonly name: string; readonly namespace: string }
  | { readonly kind: 'node' | 'nodeclaim' | 'nodepool'; readonly name: string };

export async function explainIn(source: ClusterSource, subject: Subject): Promise<Explanation> {
  const { cloud, kube, objects } = source;
  const rehearsal = await rehearse({ objects, cloud });
  const answer = await answerTo(rehearsal, subject, { cloud }, kube);
  if (answer === undefined) throw new NodewrightError('ObjectNotFound', subject);
  return subject.kind === 'pod' ? withLaunchFailures(answer, kube, objects.time) : answer;
}

function answerTo(
  rehearsal: Rehearsal,
  subject: Subject,
  options: Pick<ClusterSource, 'cloud'>,
  kube: Kube,
): Promise<Explanation | undefined> {
  switch (subject.kind) {
    case 'pod':
      return explainPodIn(rehearsal, subject, kube);
    case 'nodepool':
      return explainPoolIn(rehearsal, subject.name, options, kube);
    case 'node':
    case 'nodeclaim':
      return explainNodeIn(rehearsal, { kind: subject.kind, name: subject.name }, options, kube);
  }
}

/** The first fix that `kubectl apply` can make, as manifests. */
export async function fixManifests(kube: Kube, { fixes }: Explanation): Promise<readonly object[]> {
  for (const fix of fixes) {
    if (fix.patches.length === 0) continue;
    const manifests = await appliedManifests(fix, (target) => kube.get(kindIn(target), target));
    if (manifests !== undefined) return manifests;
  }
  throw new NodewrightError('NothingToApply', {});
}

function kindIn(target: ObjectName) {
  const kind = kindOf(target);
  if (kind === undefined) throw new InvariantError(`no kind ${target.apiVersion} ${target.kind}`);
  return kind;
}

const DONE: Readonly<Record<Patch['type'], string>> = { merge: 'patched', delete: 'deleted', create: 'created' };

/**
 * Applies all patches of the fix in order, and reports each. `pause` gives an owner time to notice one patch before the
 * next.
 */
export async function applyFix(
  kube: Kube,
  { patches }: ExplainedFix,
  pause: () => Promise<void>,
): Promise<readonly string[]> {
  const done: string[] = [];
  for (const [at, { target, type, patch }] of patches.entries()) {
    const { name, namespace } = target;
    const kind = kindIn(target);
    if (at > 0) await pause();
    const ref = { name, namespace };
    if (type === 'merge') await kube.patch(kind, ref, { type, body: patch });
    else if (type === 'delete') {
      // A patch before may have made it leave already.
      await ignoringAbsence(() => kube.delete(kind, ref, { propagationPolicy: 'Background' }));
      await gone(() => kube.get(kind, ref), pause);
    } else await kube.create(kind, patch as unknown as KubeObject);
    done.push(`${target.kind.toLowerCase()}/${name} ${DONE[type]}`);
  }
  return done;
}

async function ignoringAbsence(act: () => Promise<unknown>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** Looks at an object that was deleted, while finalizers or the end of its containers hold it. */
const MOST_LOOKS = 120;

/** Waits until the name is free. If it stays taken, the API server's error on creation explains it. */
async function gone(look: () => Promise<unknown>, pause: () => Promise<void>): Promise<void> {
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    try {
      await look();
    } catch (error) {
      if (isNotFound(error)) return;
      throw error;
    }
    await pause();
  }
}
