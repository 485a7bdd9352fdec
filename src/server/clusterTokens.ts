/** Opens a gate for a token of the cluster if the API server allows its user what is behind the gate. */
import { isAllowed, userOfToken, type Access } from '../kube/accessReviews.ts';
import type { Kube } from '../kube/kube.ts';
import type { ReviewToken } from './gate.ts';

/** Rights needed to see the dashboard, cluster-wide. */
export const SHOWN_BY_DASHBOARD: readonly Access[] = [
  { verb: 'list', group: '', resource: 'nodes' },
  { verb: 'list', group: '', resource: 'pods' },
  { verb: 'list', group: 'karpenter.sh', resource: 'nodepools' },
];

/** As for Kubernetes components: `nonResourceURLs` of a ClusterRole. */
export const PROFILES: readonly Access[] = [{ verb: 'get', path: '/debug/pprof/' }];

export function clusterTokenReview(kube: Pick<Kube, 'create'>, needed: readonly Access[]): ReviewToken {
  return async (token) => {
    const user = await userOfToken(kube, token);
    if (user === undefined) return false;
    for (const access of needed) if (!(await isAllowed(kube, user, access))) return false;
    return true;
  };
}
