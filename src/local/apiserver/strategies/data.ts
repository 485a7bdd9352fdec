/** Rules for secrets and config maps. */
import { ensureFields, fieldsAt, sameJson, setDefaults, type ApiObject } from '../fields.ts';
import type { Strategy } from '../resource.ts';
import { configKeyProblems } from '../names.ts';
import { forbiddenChange, invalidValue, type FieldError } from '../status.ts';

export const secretStrategy: Strategy = {
  tracksGeneration: false,
  applyDefaults(draft) {
    setDefaults(draft, { type: 'Opaque' });
    const plain = fieldsAt(draft, 'stringData');
    if (plain === undefined) return;
    const data = ensureFields(draft, 'data');
    for (const [name, value] of Object.entries(plain)) data[name] = Buffer.from(String(value)).toString('base64');
    delete draft['stringData'];
  },
  validate(draft, old) {
    const errors = immutableData(draft, old);
    if (old !== undefined && draft['type'] !== old['type']) {
      errors.push(invalidValue('type', draft['type'], 'field is immutable'));
    }
    return errors;
  },
};

export const configMapStrategy: Strategy = {
  tracksGeneration: false,
  validate: (draft, old) => immutableData(draft, old),
};

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
