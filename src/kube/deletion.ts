import type { KubeObject } from '../api/object.ts';

/** Whether the object in the API server's answer is completely deleted: no finalizer or grace period keeps it. */
export function isGone({ metadata }: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = metadata;
  return deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0 && finalizers.length === 0;
}
