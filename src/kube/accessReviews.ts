/** Queries to the API server: who owns a token, and what an account may do. */
import type { KubeObject, ResourceKind } from '../api/object.ts';
import type { Kube } from './kube.ts';

export interface ReviewedUser {
  readonly user: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Access to objects; without a namespace, in all namespaces. */
export interface ResourceAccess {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** Access to a URL path that is not an object. */
interface PathAccess {
  readonly verb: string;
  readonly path: string;
}

export type Access = ResourceAccess | PathAccess;

interface TokenReview extends KubeObject {
  readonly spec: { readonly token: string };
  readonly status?: {
    readonly authenticated?: boolean;
    readonly user?: Omit<ReviewedUser, 'user'> & { readonly username?: string };
  };
}

interface AccessReview extends KubeObject {
  readonly spec: Partial<ReviewedUser> & {
    readonly resourceAttributes?: ResourceAccess;
    readonly nonResourceAttributes?: PathAccess;
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

const accessReview = (kind: string): ResourceKind<AccessReview> => ({
  group: 'authorization.k8s.io',
  version: 'v1',
  kind,
  plural: `${kind.toLowerCase()}s`,
  singular: kind.toLowerCase(),
  namespaced: false,
});
const SUBJECT_ACCESS_REVIEW = accessReview('SubjectAccessReview');
const SELF_SUBJECT_ACCESS_REVIEW = accessReview('SelfSubjectAccessReview');

/** Owner of the token; undefined if the server does not accept it. */
export async function userOfToken(kube: Pick<Kube, 'create'>, token: string): Promise<ReviewedUser | undefined> {
  const { status } = await kube.create(TOKEN_REVIEW, { metadata: {}, spec: { token } });
  const { username, uid, groups, extra } = status?.user ?? {};
  if (status?.authenticated !== true || username === undefined) return undefined;
  return { user: username, ...(uid && { uid }), ...(groups && { groups }), ...(extra && { extra }) };
}

/** `self`: the requesting account. */
export async function isAllowed(
  kube: Pick<Kube, 'create'>,
  user: ReviewedUser | 'self',
  access: Access,
): Promise<boolean> {
  const spec = { ...(user !== 'self' && user), ...attributesOf(access) };
  const kind = user === 'self' ? SELF_SUBJECT_ACCESS_REVIEW : SUBJECT_ACCESS_REVIEW;
  const { status } = await kube.create(kind, { metadata: {}, spec });
  return status?.allowed === true;
}

function attributesOf(access: Access): Pick<AccessReview['spec'], 'resourceAttributes' | 'nonResourceAttributes'> {
  if ('path' in access) return { nonResourceAttributes: access };
  const { verb, group, resource, subresource, namespace, name } = access;
  const where = { ...(subresource && { subresource }), ...(namespace && { namespace }), ...(name && { name }) };
  return { resourceAttributes: { verb, group, resource, ...where } };
}

/** A service account's user name and groups on the API server. */
export function serviceAccountUser(namespace: string, name: string): ReviewedUser {
  return {
    user: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  };
}
