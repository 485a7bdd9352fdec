/** Rules for kinds that only hold data: secrets, config maps, leases, events, roles and their bindings. */
import { ensureFields, fieldsAt, isFields, listAt, sameJson, setDefaults, textAt, type ApiObject } from '../fields.ts';
import type { Strategy } from '../resource.ts';
import { configKeyProblems } from '../names.ts';
import { forbiddenChange, invalidValue, required, tooLong, type FieldError } from '../status.ts';
import { Check } from './check.ts';
import { goStruct } from './goNames.ts';

export const secretStrategy: Strategy = {
  applyDefaults(draft) {
    setDefaults(draft, { type: 'Opaque' });
    const plain = fieldsAt(draft, 'stringData');
    if (plain === undefined) return;
    const data = ensureFields(draft, 'data');
    for (const [name, value] of Object.entries(plain)) data[name] = Buffer.from(String(value)).toString('base64');
    delete draft['stringData'];
  },
  warnings(draft) {
    if (textAt(draft, 'type') !== 'kubernetes.io/tls') return [];
    const certificate = Buffer.from(textAt(draft, 'data', 'tls.crt') ?? '', 'base64').toString('utf8');
    return certificate.includes('-----BEGIN') ? [] : ['tls: failed to find any PEM data in certificate input'];
  },
  validate(draft, old) {
    const errors = [...checkSize(draft, 'data'), ...checkSecretType(draft), ...immutableData(draft, old)];
    if (old !== undefined && draft['type'] !== old['type']) {
      errors.push(invalidValue('type', draft['type'], 'field is immutable'));
    }
    return errors;
  },
};

/** What each of the well-known types must hold. */
const REQUIRED_KEYS = new Map(
  Object.entries({
    'kubernetes.io/tls': ['tls.crt', 'tls.key'],
    'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
    'kubernetes.io/dockercfg': ['.dockercfg'],
    'kubernetes.io/ssh-auth': ['ssh-privatekey'],
  }),
);

function checkSecretType(draft: ApiObject): FieldError[] {
  const type = textAt(draft, 'type') ?? '';
  const data = fieldsAt(draft, 'data') ?? {};
  if (type === 'kubernetes.io/basic-auth') {
    if (data['username'] !== undefined || data['password'] !== undefined) return [];
    return [required('data[username]'), required('data[password]')];
  }
  if (type === 'kubernetes.io/service-account-token') {
    const account = draft.metadata.annotations?.['kubernetes.io/service-account.name'] ?? '';
    return account === '' ? [required('metadata.annotations[kubernetes.io/service-account.name]')] : [];
  }
  const missing = (REQUIRED_KEYS.get(type) ?? []).filter((key) => data[key] === undefined);
  return missing.map((key) => required(`data[${key}]`));
}

export const configMapStrategy: Strategy = {
  // Upstream has no name for both maps together.
  validate: (draft, old) => [...checkSize(draft, '[]'), ...immutableData(draft, old)],
};

/** What etcd takes well. */
const MOST_BYTES = 1024 * 1024;

function checkSize(draft: ApiObject, field: string): FieldError[] {
  const encoded = Object.values(fieldsAt(draft, draft.kind === 'Secret' ? 'data' : 'binaryData') ?? {});
  const plain = draft.kind === 'Secret' ? [] : Object.values(fieldsAt(draft, 'data') ?? {});
  const bytes =
    encoded.reduce((sum: number, value) => sum + Buffer.byteLength(String(value), 'base64'), 0) +
    plain.reduce((sum: number, value) => sum + Buffer.byteLength(String(value)), 0);
  return bytes > MOST_BYTES ? [tooLong(field, MOST_BYTES)] : [];
}

function immutableData(draft: ApiObject, old: ApiObject | undefined): FieldError[] {
  const errors: FieldError[] = [];
  for (const map of ['data', 'binaryData']) {
    for (const key of Object.keys(fieldsAt(draft, map) ?? {})) {
      for (const why of configKeyProblems(key)) errors.push(invalidValue(`${map}[${key}]`, key, why));
    }
  }
  if (old?.['immutable'] !== true) return errors;
  const why = 'field is immutable when `immutable` is set';
  if (draft['immutable'] !== true) errors.push(forbiddenChange('immutable', why));
  for (const map of ['data', 'binaryData']) {
    if (!sameJson(draft[map], old[map])) errors.push(forbiddenChange(map, why));
  }
  return errors;
}

export const leaseStrategy: Strategy = {
  validate(draft) {
    const spec = new Check(draft['spec'], 'spec');
    const seconds = spec.number('leaseDurationSeconds') ?? 1;
    if (seconds <= 0) spec.invalid('leaseDurationSeconds', seconds, 'must be greater than 0');
    return spec.errors;
  },
};

export const eventStrategy: Strategy = {
  validate(draft) {
    const check = new Check(draft, '');
    const about = textAt(draft, 'involvedObject', 'namespace') ?? '';
    const { namespace = '' } = draft.metadata;
    if (about !== namespace && (about !== '' || namespace !== 'default')) {
      check.invalid('involvedObject.namespace', about, 'does not match event.namespace');
    }
    return check.errors;
  },
};

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
