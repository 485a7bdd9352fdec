/** Rules for roles and their bindings. */
import { fieldsAt, isFields, listAt, sameJson, setDefaults } from '../fields.ts';
import type { Strategy } from '../resource.ts';
import { Check } from './check.ts';
import { goStruct } from './goNames.ts';

const GROUP = 'rbac.authorization.k8s.io';

export const roleBindingStrategy: Strategy = {
  applyDefaults(draft) {
    const role = fieldsAt(draft, 'roleRef');
    if (role !== undefined && (role['apiGroup'] ?? '') === '') role['apiGroup'] = GROUP;
    for (const subject of listAt(draft, 'subjects')) {
      if (isFields(subject) && subject['kind'] !== 'ServiceAccount') setDefaults(subject, { apiGroup: GROUP });
    }
  },
  validate(draft, old) {
    const check = new Check(draft, '');
    const role = new Check(draft['roleRef'], 'roleRef', check.errors);
    role.oneOf('kind', draft.kind === 'RoleBinding' ? ['Role', 'ClusterRole'] : ['ClusterRole']);
    if (check.errors.length === 0 && old !== undefined && !sameJson(draft['roleRef'], old['roleRef'])) {
      check.invalid(
        'roleRef',
        goStruct(draft['roleRef'], { APIGroup: '', Kind: '', Name: '' }),
        'cannot change roleRef',
      );
    }
    return check.errors;
  },
};

export const roleStrategy: Strategy = {
  validate(draft) {
    const check = new Check(draft, '');
    check.each('rules', (rule) => {
      if (rule.list('verbs').length === 0) rule.missing('verbs', 'verbs must contain at least one value');
    });
    return check.errors;
  },
};
