/** A token of the cluster opens a gate when the API server says that its user may do what is behind it. */
import { isAllowed, userOfToken, type Access } from '../kube/accessReviews.ts';
import type { Kube } from '../kube/kube.ts';
import type { ReviewToken } from './gate.ts';

/** What the dashboard shows, in the whole cluster. */
export const SHOWN_BY_DASHBOARD: readonly Access[] = [
  { verb: 'list', group: '', resource: 'nodes' },
  { verb: 'list', group: '', resource: 'pods' },
  { verb: 'list', group: 'karpenter.sh', resource: 'nodepools' },
];

/** As the components of Kubernetes ask for theirs: `nonResourceURLs` of a ClusterRole. */
export const PROFILES: readonly Access[] = [{ verb: 'get', path: '/debug/pprof/' }];

export function clusterTokenReview(kube: Pick<Kube, 'create'>, needed: readonly Access[]): ReviewToken {
  return async (token) => {
    const user = await userOfToken(kube, token);
    if (user === undefined) return false;
    for (const access of needed) if (!(await isAllowed(kube, user, access))) return false;
    return true;
  };
}
