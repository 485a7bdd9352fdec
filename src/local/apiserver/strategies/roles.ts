/** Rules for roles and their bindings. */
import { fieldsAt, isFields, listAt, sameJson, setDefaults, textAt } from '../fields.ts';
import type { Strategy } from '../resource.ts';
import { invalidValue, required, unsupportedValue } from '../status.ts';
import { goStruct } from './goNames.ts';

export const roleBindingStrategy: Strategy = {
  applyDefaults(draft) {
    const role = fieldsAt(draft, 'roleRef');
    if (role !== undefined && (role['apiGroup'] ?? '') === '') role['apiGroup'] = 'rbac.authorization.k8s.io';
    for (const subject of listAt(draft, 'subjects')) {
      if (isFields(subject) && subject['kind'] !== 'ServiceAccount') {
        setDefaults(subject, { apiGroup: 'rbac.authorization.k8s.io' });
      }
    }
  },
  validate(draft, old) {
    const kinds = draft.kind === 'RoleBinding' ? ['Role', 'ClusterRole'] : ['ClusterRole'];
    const kind = textAt(draft, 'roleRef', 'kind') ?? '';
    if (!kinds.includes(kind)) return [unsupportedValue('roleRef.kind', kind, kinds)];
    const shown = goStruct(draft['roleRef'], { APIGroup: '', Kind: '', Name: '' });
    return old !== undefined && !sameJson(draft['roleRef'], old['roleRef'])
      ? [invalidValue('roleRef', shown, 'cannot change roleRef')]
      : [];
  },
};

export const roleStrategy: Strategy = {
  validate: (draft) =>
    listAt(draft, 'rules').flatMap((rule, index) =>
      listAt(rule, 'verbs').length === 0
        ? [required(`rules[${index}].verbs`, 'verbs must contain at least one value')]
        : [],
    ),
};
