/** Rules for namespaces and nodes. */
import { ensureFields, fieldsAt, listAt, setDefaults, textAt, type ApiObject } from '../fields.ts';
import type { Strategy } from '../resource.ts';
import { labelValueProblems, qualifiedNameProblems } from '../names.ts';
import {
  duplicateValue,
  forbiddenChange,
  invalidValue,
  required,
  unsupportedValue,
  type FieldError,
} from '../status.ts';
import { goStruct } from './goNames.ts';

export const namespaceStrategy: Strategy = {
  ownsDeletion: true,
  applyDefaults(draft) {
    draft.metadata.labels = { ...draft.metadata.labels, 'kubernetes.io/metadata.name': draft.metadata.name };
  },
  prepareCreate(draft) {
    draft['spec'] = { finalizers: ['kubernetes'] };
    draft['status'] = { phase: 'Active' };
  },
  prepareUpdate(draft, old) {
    // Only the namespace controller, through `finalize`, may take these away.
    draft['spec'] = old['spec'];
  },
};

/** Without word of what the system keeps for itself, everything may be used. */
function defaultAllocatable(node: ApiObject): void {
  const capacity = fieldsAt(node, 'status', 'capacity');
  if (capacity !== undefined) setDefaults(ensureFields(node, 'status'), { allocatable: { ...capacity } });
}

export const nodeStrategy: Strategy = {
  keepsStatusOnCreate: true,
  applyDefaults(draft) {
    defaultAllocatable(draft);
    const range = textAt(draft, 'spec', 'podCIDR');
    if (range !== undefined) setDefaults(ensureFields(draft, 'spec'), { podCIDRs: [range] });
  },
  defaultStatus: (draft) => defaultAllocatable(draft),
  validate(draft, old) {
    const errors: FieldError[] = [];
    const seen = new Set<string>();
    listAt(draft, 'spec', 'taints').forEach((taint, index) => {
      const place = `metadata.taints[${index}]`;
      const key = textAt(taint, 'key') ?? '';
      const effect = textAt(taint, 'effect') ?? '';
      for (const why of qualifiedNameProblems(key)) errors.push(invalidValue(`${place}.key`, key, why));
      for (const why of labelValueProblems(textAt(taint, 'value') ?? '')) {
        errors.push(invalidValue(`${place}.value`, textAt(taint, 'value'), why));
      }
      if (effect === '') errors.push(required(`${place}.effect`));
      else if (!EFFECTS.includes(effect)) errors.push(unsupportedValue(`${place}.effect`, effect, EFFECTS));
      const shown = goStruct(taint, { Key: '', Value: '', Effect: '', TimeAdded: null });
      if (seen.has(`${key}:${effect}`)) {
        const error = duplicateValue(place, shown);
        errors.push({ ...error, message: `${error.message}: taints must be unique by key and effect pair` });
      }
      seen.add(`${key}:${effect}`);
    });
    const before = textAt(old, 'spec', 'providerID') ?? '';
    if (before !== '' && textAt(draft, 'spec', 'providerID') !== before) {
      const why = 'node updates may not change providerID except from "" to valid';
      errors.push(forbiddenChange('spec.providerID', why));
    }
    return errors;
  },
};

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
