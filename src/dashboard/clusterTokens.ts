/** A token opens the dashboard when the API server says that its user may list what is shown, in the whole cluster. */
import { isAllowed, userOfToken } from '../kube/accessReviews.ts';
import type { Kube } from '../kube/kube.ts';
import type { ReviewToken } from './gate.ts';

const SHOWN = [
  { group: '', resource: 'nodes' },
  { group: '', resource: 'pods' },
  { group: 'karpenter.sh', resource: 'nodepools' },
];

export function clusterTokenReview(kube: Pick<Kube, 'create'>): ReviewToken {
  return async (token) => {
    const user = await userOfToken(kube, token);
    if (user === undefined) return false;
    for (const shown of SHOWN) if (!(await isAllowed(kube, user, { verb: 'list', ...shown }))) return false;
    return true;
  };
}
