/** Rules for namespaces and nodes. */
import { given } from '../defaults.ts';
import { textAt, type Fields } from '../fields.ts';
import type { Strategy } from '../resource.ts';
import { labelValueProblems, qualifiedNameProblems } from '../names.ts';
import { duplicateValue } from '../status.ts';
import { Check } from './check.ts';
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
    // The finalizers in the spec can only be removed through `finalize`.
    draft['spec'] = old['spec'];
  },
};

/** Allocatable resources default to the capacity. */
const ALLOCATABLE = { status: given({ allocatable: ({ capacity }: Fields) => capacity && { ...capacity } }) };

export const nodeStrategy: Strategy = {
  keepsStatusOnCreate: true,
  defaults: {
    ...ALLOCATABLE,
    spec: given({ podCIDRs: ({ podCIDR }: Fields) => (podCIDR === undefined ? undefined : [podCIDR]) }),
  },
  statusDefaults: ALLOCATABLE,
  validate(check, draft, old) {
    const seen = new Set<string>();
    // Upstream's errors have the path `metadata.taints`.
    new Check(draft['spec'], 'metadata', check.errors).each('taints', (taint) => {
      const [key, value, effect] = [taint.text('key'), taint.text('value'), taint.text('effect')];
      taint.problems('key', key, qualifiedNameProblems);
      taint.problems('value', value, labelValueProblems);
      if (effect === '') taint.missing('effect');
      else taint.oneOf('effect', EFFECTS);
      if (seen.has(`${key}:${effect}`)) {
        const error = duplicateValue(taint.path, goStruct(taint.value, TAINT_FIELDS));
        check.errors.push({ ...error, message: `${error.message}: taints must be unique by key and effect pair` });
      }
      seen.add(`${key}:${effect}`);
    });
    const before = textAt(old, 'spec', 'providerID') ?? '';
    if (before !== '' && textAt(draft, 'spec', 'providerID') !== before) {
      check.forbidden('spec.providerID', 'node updates may not change providerID except from "" to valid');
    }
  },
};

const TAINT_FIELDS = { Key: '', Value: '', Effect: '', TimeAdded: null };
const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
