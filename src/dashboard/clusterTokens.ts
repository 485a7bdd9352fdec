/** A token opens the dashboard when the API server says that its user may list what is shown, in the whole cluster. */
import type { KubeObject, ResourceKind } from '../api/object.ts';
import type { Kube } from '../kube/kube.ts';
import type { ReviewToken } from './gate.ts';

interface User {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

interface TokenReview extends KubeObject {
  readonly spec: { readonly token: string };
  readonly status?: { readonly authenticated?: boolean; readonly user?: User };
}

interface SubjectAccessReview extends KubeObject {
  readonly spec: {
    readonly user: string;
    readonly uid?: string;
    readonly groups?: readonly string[];
    readonly extra?: Readonly<Record<string, readonly string[]>>;
    readonly resourceAttributes: { readonly verb: string; readonly group: string; readonly resource: string };
  };
  readonly status?: { readonly allowed?: boolean };
}

const TOKEN_REVIEW: ResourceKind<TokenReview> = {
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'TokenReview',
  plural: 'tokenreviews',
  singular: 'tokenreview',
  namespaced: false,
};
const SUBJECT_ACCESS_REVIEW: ResourceKind<SubjectAccessReview> = {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SubjectAccessReview',
  plural: 'subjectaccessreviews',
  singular: 'subjectaccessreview',
  namespaced: false,
};
const SHOWN = [
  { group: '', resource: 'nodes' },
  { group: '', resource: 'pods' },
  { group: 'karpenter.sh', resource: 'nodepools' },
];

export function clusterTokenReview(kube: Pick<Kube, 'create'>): ReviewToken {
  return async (token) => {
    const { status } = await kube.create(TOKEN_REVIEW, { metadata: {}, spec: { token } });
    const { username, uid, groups, extra } = status?.user ?? {};
    if (status?.authenticated !== true || username === undefined) return false;
    const user = { user: username, ...(uid && { uid }), ...(groups && { groups }), ...(extra && { extra }) };
    for (const shown of SHOWN) {
      const spec = { ...user, resourceAttributes: { verb: 'list', ...shown } };
      const review = await kube.create(SUBJECT_ACCESS_REVIEW, { metadata: {}, spec });
      if (review.status?.allowed !== true) return false;
    }
    return true;
  };
}
