/** Rules for kinds that only contain data: secrets, config maps, leases, events, roles and role bindings. */
import { ensureFields, fieldsAt, isFields, listAt, sameJson, setDefaults, textAt, type ApiObject } from '../fields.ts';
import type { Strategy } from '../resource.ts';
import { configKeyProblems } from '../names.ts';
import { tooLong } from '../status.ts';
import type { Check } from './check.ts';
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
  validate(check, draft, old) {
    checkSize(check, draft, 'data');
    checkSecretType(check, draft);
    checkData(check, old);
    if (old !== undefined) check.fixed(old, ['type']);
  },
};

/** Required keys of well-known secret types. */
const REQUIRED_KEYS = new Map(
  Object.entries({
    'kubernetes.io/tls': ['tls.crt', 'tls.key'],
    'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
    'kubernetes.io/dockercfg': ['.dockercfg'],
    'kubernetes.io/ssh-auth': ['ssh-privatekey'],
    'kubernetes.io/basic-auth': ['username', 'password'],
  }),
);

function checkSecretType(check: Check, { metadata }: ApiObject): void {
  const type = check.text('type');
  const isMissing = (key: string): boolean => check.at('data').get(key) === undefined;
  let missing = (REQUIRED_KEYS.get(type) ?? []).filter(isMissing);
  // One of the two keys is enough.
  if (type === 'kubernetes.io/basic-auth' && missing.length < 2) missing = [];
  for (const key of missing) check.missing(`data[${key}]`);
  const account = 'kubernetes.io/service-account.name';
  if (type === 'kubernetes.io/service-account-token' && (metadata.annotations?.[account] ?? '') === '') {
    check.missing(`metadata.annotations[${account}]`);
  }
}

export const configMapStrategy: Strategy = {
  // Upstream's error for the size of both maps has the path `[]`.
  validate(check, draft, old) {
    checkSize(check, draft, '[]');
    checkData(check, old);
  },
};

/** Limit of the total size of values. */
const MOST_BYTES = 1024 * 1024;

function checkSize(check: Check, draft: ApiObject, field: string): void {
  const encoded = Object.values(fieldsAt(draft, draft.kind === 'Secret' ? 'data' : 'binaryData') ?? {});
  const plain = draft.kind === 'Secret' ? [] : Object.values(fieldsAt(draft, 'data') ?? {});
  const bytes =
    encoded.reduce((sum: number, value) => sum + Buffer.byteLength(String(value), 'base64'), 0) +
    plain.reduce((sum: number, value) => sum + Buffer.byteLength(String(value)), 0);
  if (bytes > MOST_BYTES) check.errors.push(tooLong(field, MOST_BYTES));
}

function checkData(check: Check, old: ApiObject | undefined): void {
  for (const map of ['data', 'binaryData']) {
    for (const key of Object.keys(fieldsAt(check.value, map) ?? {})) {
      check.problems(`${map}[${key}]`, key, configKeyProblems);
    }
  }
  if (old?.['immutable'] !== true) return;
  for (const field of ['immutable', 'data', 'binaryData']) {
    if (sameJson(check.get(field), old[field])) continue;
    check.forbidden(field, 'field is immutable when `immutable` is set');
  }
}

export const leaseStrategy: Strategy = {
  validate(check) {
    const seconds = check.at('spec').number('leaseDurationSeconds') ?? 1;
    if (seconds <= 0) check.invalid('spec.leaseDurationSeconds', seconds, 'must be greater than 0');
  },
};

export const eventStrategy: Strategy = {
  validate(check, { metadata: { namespace = '' } }) {
    const about = check.at('involvedObject').text('namespace');
    if (about !== namespace && (about !== '' || namespace !== 'default')) {
      check.invalid('involvedObject.namespace', about, 'does not match event.namespace');
    }
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
  validate(check, draft, old) {
    const role = check.at('roleRef');
    role.oneOf('kind', draft.kind === 'RoleBinding' ? ['Role', 'ClusterRole'] : ['ClusterRole']);
    if (check.errors.length > 0 || old === undefined || sameJson(role.value, old['roleRef'])) return;
    role.invalid('', goStruct(role.value, { APIGroup: '', Kind: '', Name: '' }), 'cannot change roleRef');
  },
};

export const roleStrategy: Strategy = {
  validate(check) {
    check.each('rules', (rule) => {
      if (rule.list('verbs').length === 0) rule.missing('verbs', 'verbs must contain at least one value');
    });
  },
};
