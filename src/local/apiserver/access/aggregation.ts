/**
 * Roles made of roles. In: a cluster role with an aggregation rule, and the roles whose labels it selects. Out: the
 * union of their rules in it, kept up to date.
 */
import { afterChanges } from '../afterChanges.ts';
import { labelSelectorPredicate } from '../selectors.ts';
import { copyJson, listAt, sameJson, type ApiObject, type Fields } from '../fields.ts';
import type { Objects, WriteRequest } from '../objects.ts';

const GROUP = 'rbac.authorization.k8s.io';
const TABLE = `clusterroles.${GROUP}`;
const WRITE: WriteRequest = {
  fieldManager: 'clusterrole-aggregation-controller',
  dryRun: false,
  fieldValidation: 'Ignore',
};

export class RoleAggregation {
  /** Ends it. */
  readonly stop: () => void;
  private readonly objects: Objects;

  constructor(objects: Objects) {
    this.objects = objects;
    this.stop = afterChanges(objects.store, TABLE, () => this.update());
  }

  /** Roles that collect may be collected themselves, so it goes on until nothing changes. */
  private update(): void {
    const roles = this.objects.store.table(GROUP, 'clusterroles');
    for (let changed = true, rounds = 0; changed && rounds <= roles.size; rounds++) {
      changed = false;
      for (const role of Array.from(roles.values())) {
        if (role['aggregationRule'] !== undefined && this.collect(role)) changed = true;
      }
    }
  }

  private collect(role: ApiObject): boolean {
    const resource = this.objects.catalog.find(GROUP, 'v1', 'clusterroles');
    if (resource === undefined) return false;
    const rules: Fields[] = [];
    const others = [...this.objects.store.table(GROUP, 'clusterroles').values()].sort((left, right) =>
      left.metadata.name < right.metadata.name ? -1 : 1,
    );
    for (const selector of listAt(role, 'aggregationRule', 'clusterRoleSelectors')) {
      const matches = labelSelectorPredicate(selector);
      for (const other of others) {
        if (other.metadata.name === role.metadata.name || !matches(other.metadata.labels ?? {})) continue;
        for (const rule of listAt(other, 'rules')) {
          if (!rules.some((known) => sameJson(known, rule))) rules.push(rule as Fields);
        }
      }
    }
    if (sameJson(rules, listAt(role, 'rules'))) return false;
    const { name } = role.metadata;
    const configuration = {
      apiVersion: `${GROUP}/v1`,
      kind: 'ClusterRole',
      metadata: { name },
      rules: copyJson(rules),
    };
    this.objects.apply(resource, undefined, name, configuration, true, WRITE);
    return true;
  }
}
