/** Keeps the rules of aggregating cluster roles equal to the union of the rules of the roles that they select. */
import { labelSelectorPredicate } from '../selectors.ts';
import { copyJson, listAt, sameJson, type ApiObject, type Fields } from '../fields.ts';
import { afterChanges } from '../followUp.ts';
import type { Objects } from '../objects.ts';
import { serverWrite } from '../writeRequest.ts';

const GROUP = 'rbac.authorization.k8s.io';
const TABLE = `clusterroles.${GROUP}`;
const WRITE = serverWrite('clusterrole-aggregation-controller');

export class RoleAggregation {
  /** Ends it. */
  readonly stop: () => void;
  private readonly objects: Objects;

  constructor(objects: Objects) {
    this.objects = objects;
    this.stop = afterChanges(objects.store, TABLE, () => this.update());
  }

  /** An aggregating role may be selected by another, so it goes on until nothing changes. */
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
    const target = { resource: this.objects.builtin(GROUP, 'clusterroles'), namespace: undefined, name };
    this.objects.apply(target, configuration, true, WRITE);
    return true;
  }
}
