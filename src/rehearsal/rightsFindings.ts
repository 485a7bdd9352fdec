/** Rights that the controller's account lacks according to the API server, and the RBAC rules to add. */
import { Kinds } from '../api/kinds.ts';
import { apiVersionOf, type KubeObject, type ResourceKind } from '../api/object.ts';
import { isAllowed, serviceAccountUser } from '../kube/accessReviews.ts';
import { isForbidden } from '../kube/errors.ts';
import type { Kube } from '../kube/kube.ts';
import type { ExplainedFix, ObjectName } from '../ledger/explanation.ts';
import type { Finding } from '../ledger/finding.ts';
import { adviceOf, findingOf, fixOf } from './findingOf.ts';
import { neededRights, neededRightsIn, type NeededRight, type Provider } from './neededRights.ts';

/** Account to check: the caller's own, or a service account. */
export type Account = 'self' | { readonly namespace: string; readonly name: string };

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

interface Role extends KubeObject {
  readonly rules?: readonly Rule[];
}

interface Binding extends KubeObject {
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly { readonly kind: string; readonly namespace?: string; readonly name: string }[];
}

/** Concurrent reviews. */
const AT_ONCE = 8;
const SELECTOR = 'app.kubernetes.io/name in (nodewright, karpenter)';

/** The service account of the controller's Deployment; undefined if it runs elsewhere or is not visible. */
export async function controllerAccount(kube: Kube): Promise<Account | undefined> {
  try {
    const { items } = await kube.list(Kinds.Deployment, { labelSelector: SELECTOR, limit: 10 });
    const [found] = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    if (found === undefined) return undefined;
    const name = found.spec?.template.spec?.serviceAccountName ?? 'default';
    return { namespace: found.metadata.namespace ?? 'default', name };
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}

export async function rightsFindings(
  kube: Kube,
  account: Account,
  providers: readonly Provider[],
): Promise<readonly Finding[]> {
  const object: ObjectName =
    account === 'self'
      ? { apiVersion: 'v1', kind: 'User', name: 'self' }
      : { apiVersion: 'v1', kind: 'ServiceAccount', ...account };
  const needed = [...neededRights(providers), ...(account === 'self' ? [] : neededRightsIn(account.namespace))];
  let missing: readonly NeededRight[];
  try {
    missing = await missingOf(kube, account, needed);
  } catch (error) {
    if (!isForbidden(error)) throw error;
    const advice = adviceOf({ kind: 'ask-as-reviewer' });
    return [findingOf('info', object, { check: 'rights-unknown' }, [advice])];
  }
  const found: Finding[] = [];
  const purposes = [...new Set(missing.map((each) => each.purpose))].sort((one, other) => rank(one) - rank(other));
  for (const isLocal of [false, true]) {
    const local = missing.filter((each) => (each.namespace !== undefined) === isLocal);
    for (const [at, purpose] of purposes.entries()) {
      const own = local.filter((each) => each.purpose === purpose);
      if (own.length === 0) continue;
      // A patch replaces all rules of the role, so each one includes the rules of the earlier ones.
      const soFar = new Set(purposes.slice(0, at + 1));
      const granted = local.filter((each) => soFar.has(each.purpose));
      const fix = await grant(kube, account, { own, granted });
      const trap = { check: 'rights-missing', rights: own.map(rightName), purpose } as const;
      found.push(findingOf(purpose === 'core' ? 'error' : 'info', object, trap, [fix]));
    }
  }
  return found;
}

/** Rights that every controller needs come first. */
const rank = (purpose: NeededRight['purpose']): number => Number(purpose !== 'core');

async function missingOf(
  kube: Kube,
  account: Account,
  needed: readonly NeededRight[],
): Promise<readonly NeededRight[]> {
  const user = account === 'self' ? account : serviceAccountUser(account.namespace, account.name);
  const missing: NeededRight[] = [];
  for (let at = 0; at < needed.length; at += AT_ONCE) {
    const some = needed.slice(at, at + AT_ONCE);
    const allowed = await Promise.all(some.map((right) => isAllowed(kube, user, right)));
    for (const [place, right] of some.entries()) if (allowed[place] !== true) missing.push(right);
  }
  return missing;
}

const pathOf = ({ resource, subresource }: NeededRight): string =>
  subresource === undefined ? resource : `${resource}/${subresource}`;

function rightName(right: NeededRight): string {
  const { verb, group, namespace } = right;
  return `${verb} ${pathOf(right)}${group === '' ? '' : `.${group}`}${namespace === undefined ? '' : ` in ${namespace}`}`;
}

const rbac = <T extends KubeObject>(kind: string, namespaced: boolean): ResourceKind<T> => ({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind,
  plural: `${kind.toLowerCase()}s`,
  singular: kind.toLowerCase(),
  namespaced,
});

/** Adds the rules to an existing role of the account; advice in words if there is none or it cannot be read. */
async function grant(
  kube: Kube,
  account: Account,
  { own, granted }: { readonly own: readonly NeededRight[]; readonly granted: readonly NeededRight[] },
): Promise<ExplainedFix> {
  const byHand = adviceOf({ kind: 'grant-by-hand', rules: rulesOf(own) });
  if (account === 'self') return byHand;
  const namespace = own[0]?.namespace;
  const prefix = namespace === undefined ? 'Cluster' : '';
  const [bindings, roles] = [
    rbac<Binding>(`${prefix}RoleBinding`, prefix === ''),
    rbac<Role>(`${prefix}Role`, prefix === ''),
  ];
  try {
    const { items } = await kube.list(bindings, { namespace });
    const binding = items.find(
      ({ roleRef, subjects = [] }) =>
        roleRef.kind === roles.kind &&
        subjects.some(
          (each) =>
            each.kind === 'ServiceAccount' && each.name === account.name && each.namespace === account.namespace,
        ),
    );
    if (binding === undefined) return byHand;
    const { name } = binding.roleRef;
    const role = await kube.get(roles, { name, namespace });
    const target = {
      apiVersion: apiVersionOf(roles),
      kind: roles.kind,
      ...(namespace !== undefined && { namespace }),
      name,
    };
    const rules = [...(role.rules ?? []), ...rulesOf(granted)];
    return fixOf({ kind: 'add-rules', role: roles.kind }, target, { rules });
  } catch (error) {
    if (isForbidden(error)) return byHand;
    throw error;
  }
}

/** One rule for each resource. */
function rulesOf(missing: readonly NeededRight[]): readonly Rule[] {
  const byResource = new Map<string, Rule & { readonly verbs: string[] }>();
  for (const right of missing) {
    const { group, name, verb } = right;
    const key = [group, pathOf(right), name].join(' ');
    const known = byResource.get(key);
    if (known !== undefined) known.verbs.push(verb);
    else {
      const names = name === undefined ? {} : { resourceNames: [name] };
      byResource.set(key, { apiGroups: [group], resources: [pathOf(right)], ...names, verbs: [verb] });
    }
  }
  return [...byResource.values()];
}
