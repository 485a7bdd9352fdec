/** Keeps the rules of aggregated cluster roles equal to the union of the rules of the roles that they select. */
import { labelSelectorPredicate } from '../selectors.ts';
import { copyJson, listAt, sameJson, type ApiObject, type Fields } from '../fields.ts';
import { afterChanges } from '../followUp.ts';
import type { Objects } from '../objects.ts';
import { serverWrite } from '../writeRequest.ts';

const GROUP = 'rbac.authorization.k8s.io';
const WRITE = serverWrite('clusterrole-aggregation-controller');

/** Returns a function that stops this. */
export function aggregateRoles(objects: Objects): () => void {
  const resource = objects.builtin(GROUP, 'clusterroles');
  const roles = objects.tableOf(resource);

  /** Repeats until nothing changes, because aggregated roles may be selected by others. */
  function update(): void {
    for (let changed = true, rounds = 0; changed && rounds <= roles.size; rounds++) {
      changed = roles
        .page()
        .items.filter((role) => role['aggregationRule'] !== undefined)
        .map(collect)
        .includes(true);
    }
  }

  function collect({ metadata: { name } }: ApiObject): boolean {
    const role = roles.get(name);
    const rules: Fields[] = [];
    for (const selector of listAt(role, 'aggregationRule', 'clusterRoleSelectors')) {
      const matches = labelSelectorPredicate(selector);
      for (const other of roles.page().items) {
        if (other.metadata.name === name || !matches(other.metadata.labels ?? {})) continue;
        for (const rule of listAt(other, 'rules')) {
          if (!rules.some((known) => sameJson(known, rule))) rules.push(rule as Fields);
        }
      }
    }
    if (sameJson(rules, listAt(role, 'rules'))) return false;
    const type = { apiVersion: `${GROUP}/v1`, kind: 'ClusterRole' };
    const configuration = { ...type, metadata: { name }, rules: copyJson(rules) };
    objects.apply({ resource, namespace: undefined, name }, configuration, true, WRITE);
    return true;
  }

  return afterChanges(objects.store, roles.id, update);
}
