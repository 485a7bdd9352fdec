import type { KubeObject } from '../api/object.ts';

/** Whether the API server has removed the object that it answered with: it is deleted and nothing keeps it. */
export function isGone({ metadata }: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = metadata;
  return deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0 && finalizers.length === 0;
}
