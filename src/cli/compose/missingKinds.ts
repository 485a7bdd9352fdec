import { apiVersionOf, type KubeObject, type ResourceKind } from '../../api/object.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { Kube } from '../../kube/kube.ts';

/** Kinds unknown to the server: their CRDs are not installed. */
export async function missingKinds(
  kube: Kube,
  needed: readonly ResourceKind<KubeObject>[],
): Promise<readonly ResourceKind<KubeObject>[]> {
  const checks = needed.map(async (kind) => {
    try {
      const answer = (await kube.raw(`/apis/${apiVersionOf(kind)}`)) as { resources?: readonly { kind: string }[] };
      return answer.resources?.some((resource) => resource.kind === kind.kind) ? [] : [kind];
    } catch (error) {
      if (isNotFound(error)) return [kind];
      throw error;
    }
  });
  return (await Promise.all(checks)).flat();
}
