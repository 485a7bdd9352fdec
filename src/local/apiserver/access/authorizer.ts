/**
 * Role-based access control: whether a user may do something, by which binding, and all rules of a user. Roles and
 * bindings are read from the store, so changes apply to the next request.
 */
import { fieldsAt, listAt, textAt, type ApiObject, type Fields } from '../fields.ts';
import { aggregate } from '../status.ts';
import { keyOf, type Store } from '../store.ts';
import { readRule, ruleAllows, type Attributes, type PolicyRule } from './policyRules.ts';
import { accountUserName, MASTERS, type User } from './user.ts';

const GROUP = 'rbac.authorization.k8s.io';

export interface Decision {
  readonly allowed: boolean;
  /** Which binding allowed it, or which roles do not exist; may be empty. */
  readonly reason: string;
}

interface Grant {
  readonly rule: PolicyRule;
  readonly by: string;
}

export interface UserRules {
  readonly rules: readonly PolicyRule[];
  /** Messages about roles of bindings that do not exist. */
  readonly errors: readonly string[];
}

export class Authorizer {
  private readonly store: Store;

  constructor(store: Store) {
    this.store = store;
  }

  decide(user: User, attributes: Attributes): Decision {
    if (user.groups.includes(MASTERS)) return { allowed: true, reason: '' };
    const errors: string[] = [];
    const namespace = attributes.resource?.namespace ?? '';
    for (const grant of this.grants(user, namespace, errors)) {
      if (ruleAllows(grant.rule, attributes)) return { allowed: true, reason: `RBAC: allowed by ${grant.by}` };
    }
    return { allowed: false, reason: errors.length === 0 ? '' : `RBAC: ${aggregate(errors)}` };
  }

  rulesOf(user: User, namespace: string): UserRules {
    const errors: string[] = [];
    const rules = [...this.grants(user, namespace, errors)].map(({ rule }) => rule);
    return { rules, errors };
  }

  /** Returns the rules of a binding's role; undefined if it does not exist. */
  rulesOfRole(roleRef: Fields | undefined, namespace: string): readonly PolicyRule[] | undefined {
    const name = textAt(roleRef, 'name') ?? '';
    const role =
      textAt(roleRef, 'kind') === 'ClusterRole'
        ? this.store.table(GROUP, 'clusterroles').get(keyOf(undefined, name))
        : this.store.table(GROUP, 'roles').get(keyOf(namespace, name));
    return role === undefined ? undefined : listAt(role, 'rules').map(readRule);
  }

  /** Yields the rules of cluster role bindings first, then of bindings of the namespace. */
  private *grants(user: User, namespace: string, errors: string[]): Generator<Grant> {
    for (const binding of this.store.table(GROUP, 'clusterrolebindings').values()) {
      yield* this.grantsOf(user, binding, 'ClusterRoleBinding', errors);
    }
    if (namespace === '') return;
    for (const binding of this.store.table(GROUP, 'rolebindings').page({ namespace }).items) {
      yield* this.grantsOf(user, binding, 'RoleBinding', errors);
    }
  }

  private *grantsOf(user: User, binding: ApiObject, kind: string, errors: string[]): Generator<Grant> {
    const { name, namespace = '' } = binding.metadata;
    const subject = listAt(binding, 'subjects').find((one) => isSubject(one as Fields, user, namespace));
    if (subject === undefined) return;
    const roleRef = fieldsAt(binding, 'roleRef');
    const rules = this.rulesOfRole(roleRef, namespace);
    const role = JSON.stringify(textAt(roleRef, 'name') ?? '');
    const roleKind = textAt(roleRef, 'kind') ?? '';
    if (rules === undefined) {
      errors.push(`${roleKind.toLowerCase()}.${GROUP} ${role} not found`);
      return;
    }
    const shown = JSON.stringify(kind === 'RoleBinding' ? `${name}/${namespace}` : name);
    const by = `${kind} ${shown} of ${roleKind} ${role} to ${describeSubject(subject as Fields, namespace)}`;
    for (const rule of rules) yield { rule, by };
  }
}

function isSubject(subject: Fields, user: User, namespace: string): boolean {
  const name = textAt(subject, 'name') ?? '';
  switch (textAt(subject, 'kind') ?? '') {
    case 'User':
      return name === user.name;
    case 'Group':
      return user.groups.includes(name);
    case 'ServiceAccount': {
      const home = textAt(subject, 'namespace') ?? namespace;
      return home !== '' && user.name === accountUserName({ namespace: home, name });
    }
    default:
      return false;
  }
}

function describeSubject(subject: Fields, namespace: string): string {
  const kind = textAt(subject, 'kind') ?? '';
  const name = textAt(subject, 'name') ?? '';
  if (kind !== 'ServiceAccount') return `${kind} ${JSON.stringify(name)}`;
  return `${kind} ${JSON.stringify(`${name}/${textAt(subject, 'namespace') ?? namespace}`)}`;
}
