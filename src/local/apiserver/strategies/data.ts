/** Rules for secrets and config maps. */
import { ensureFields, fieldsAt, sameJson, setDefaults, textAt, type ApiObject } from '../fields.ts';
import type { Strategy } from '../resource.ts';
import { configKeyProblems } from '../names.ts';
import { forbiddenChange, invalidValue, required, tooLong, type FieldError } from '../status.ts';

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
