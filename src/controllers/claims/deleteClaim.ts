import { Kinds } from '../../api/kinds.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import { isConflict, isNotFound } from '../../kube/errors.ts';
import type { Kube } from '../../kube/kube.ts';

/** Deletes this claim by uid, not a new one of the same name. False when it was already gone. */
export async function deleteClaim(kube: Kube, { metadata }: NodeClaim, signal?: AbortSignal): Promise<boolean> {
  const preconditions = metadata.uid === undefined ? {} : { uid: metadata.uid };
  try {
    await kube.delete(Kinds.NodeClaim, { name: metadata.name }, { preconditions, ...(signal && { signal }) });
    return true;
  } catch (error) {
    if (isNotFound(error) || isConflict(error)) return false;
    throw error;
  }
}
