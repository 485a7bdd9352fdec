/** Schemas of the fields that a NodePool's template and a NodeClaim share. */
import { defaulted, list, object, oneOf, required, string } from '../schema/builder.ts';
import type { Infer } from '../schema/builder.ts';
import type { ValidationRule } from '../schema/structuralSchema.ts';
import { LABEL_KEY_PATTERN } from './labelRules.ts';

export const DURATION_PATTERN = '^([0-9]+(s|m|h))+$';
export const DURATION_OR_NEVER_PATTERN = '^(([0-9]+(s|m|h))+|Never)$';

const taint = object(
  {
    effect: required(
      oneOf(['NoSchedule', 'PreferNoSchedule', 'NoExecute'], {
        description: 'What happens to pods that do not tolerate the taint.',
      }),
    ),
    key: required(string({ description: 'The name of the taint.', minLength: 1, pattern: LABEL_KEY_PATTERN })),
    timeAdded: string({ description: 'When the taint was put on the node.', format: 'date-time' }),
    value: string({ description: 'The value of the taint, if it has one.', pattern: LABEL_KEY_PATTERN }),
  },
  { description: 'Keeps pods that do not tolerate it off the node.' },
);

export type Taint = Infer<typeof taint>;

export const taints = list(taint, {
  description: 'Taints of the node. Only pods that tolerate all of them are placed on it.',
  listType: 'atomic',
});

export const startupTaints = list(taint, {
  description:
    'Taints that the node starts with and that something in the cluster, usually a DaemonSet, removes once the node ' +
    'is usable. Pods need not tolerate them to cause a node.',
  listType: 'atomic',
});

function nonEmpty(name: string): ValidationRule[] {
  return [{ rule: `self != ''`, message: `${name} may not be empty` }];
}

const CLASS_REF = 'The node class that says how instances are built: image, disk, network, kubelet.';

/** A pool may switch to another class of the same kind; a claim is immutable as a whole. */
export function nodeClassRef(rules?: readonly ValidationRule[]) {
  return object(
    {
      group: required(
        string({
          description: 'The API group of the node class: `karpenter.azure.com`.',
          pattern: '^[^/]*$',
          rules: nonEmpty('group'),
        }),
      ),
      kind: required(string({ description: 'The kind of the node class: `AKSNodeClass`.', rules: nonEmpty('kind') })),
      name: required(string({ description: 'The name of the node class.', rules: nonEmpty('name') })),
    },
    { description: CLASS_REF, ...(rules === undefined ? {} : { rules }) },
  );
}

export const expireAfter = defaulted(
  string({
    description:
      'How long a node may live, from its creation; then it is drained and replaced, whatever its pods say. Never ' +
      'switches this off. Default 720h, thirty days.',
    pattern: DURATION_OR_NEVER_PATTERN,
  }),
  '720h',
);

export const terminationGracePeriod = string({
  description:
    'The longest a node may take to drain, from the moment its deletion starts. When the time is up, the remaining ' +
    'pods are removed even against their disruption budgets, their do-not-disrupt annotation and their own grace ' +
    'period; pods are told early enough to get their full grace period before that. Without it a drain waits as ' +
    'long as it takes, and drift does not start where pods would block it.',
  pattern: DURATION_PATTERN,
});
