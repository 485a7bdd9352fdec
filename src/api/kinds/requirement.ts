/** Schema of the requirement lists of NodePools, NodeClaims and NodeOverlays, and the type of one requirement. */
import { integer, list, object, oneOf, required, string } from '../schema/builder.ts';
import type { Infer } from '../schema/builder.ts';
import type { ValidationRule } from '../schema/structuralSchema.ts';
import { LABEL_KEY_PATTERN, LABEL_VALUE_PATTERN, labelKeyRules } from './labelRules.ts';

export const REQUIREMENT_OPERATORS = ['Gte', 'Lte', 'In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'] as const;

const operator = oneOf(REQUIREMENT_OPERATORS, {
  description:
    'How the label is compared with `values`: In and NotIn take a list, Exists and DoesNotExist take none, Gt, Lt, ' +
    'Gte and Lte take exactly one whole number.',
});

const values = list(string(), {
  description: 'The values to compare with. Leave out for Exists and DoesNotExist.',
  listType: 'atomic',
  extra: { maxLength: 63, pattern: LABEL_VALUE_PATTERN },
});

function key(nodePoolKey: 'allowed' | 'refused') {
  return string({
    description:
      'The node label that is constrained, for example `karpenter.azure.com/sku-family`, `kubernetes.io/arch` or a ' +
      'label of your own.',
    maxLength: 316,
    pattern: LABEL_KEY_PATTERN,
    rules: labelKeyRules({ nodePoolKey }),
  });
}

const minValues = integer({
  description:
    'ALPHA. How many different values of this label the launch must leave open, so that one sold-out size or zone ' +
    'cannot stop it.',
  minimum: 1,
  maximum: 50,
});

const NUMERIC = `(x.operator == 'Gt' || x.operator == 'Lt' || x.operator == 'Gte' || x.operator == 'Lte')`;

const IN_NEEDS_VALUES: ValidationRule = {
  rule: `self.all(x, x.operator == 'In' ? x.values.size() != 0 : true)`,
  message: `a requirement with operator 'In' needs at least one value`,
};
const NOT_IN_NEEDS_VALUES: ValidationRule = {
  rule: `self.all(x, x.operator == 'NotIn' ? x.values.size() != 0 : true)`,
  message: `a requirement with operator 'NotIn' needs at least one value`,
};
const NUMBER_OPERATORS: ValidationRule = {
  rule: `self.all(x, ${NUMERIC} ? (x.values.size() == 1 && int(x.values[0]) >= 0) : true)`,
  message: `a requirement with operator 'Gt', 'Lt', 'Gte' or 'Lte' needs exactly one value, a whole number of 0 or more`,
};
const ENOUGH_VALUES: ValidationRule = {
  rule: `self.all(x, (x.operator == 'In' && has(x.minValues)) ? x.values.size() >= x.minValues : true)`,
  message: `a requirement with 'minValues' must list at least that many values`,
};

const LIST = { maxItems: 100, listType: 'atomic' } as const;

/** For pool templates and claims. A pool may not constrain `karpenter.sh/nodepool`: its nodes carry its own name. */
export function requirements(nodePoolKey: 'allowed' | 'refused') {
  const item = object(
    { key: required(key(nodePoolKey)), operator: required(operator), values, minValues },
    { description: 'One condition on a node label. An instance must meet all of them.' },
  );
  return list(item, {
    ...LIST,
    description:
      'What instances may be used, as conditions on node labels that must all hold. Conditions of the pods are added ' +
      'to these; the fewer you write, the cheaper the choice can be.',
    rules: [IN_NEEDS_VALUES, NUMBER_OPERATORS, ENOUGH_VALUES],
  });
}

/** For overlays, which select instance types and so have no `minValues`. */
export function overlayRequirements() {
  const item = object(
    { key: required(key('allowed')), operator: required(operator), values },
    { description: 'One condition on a label of the instance type or its offering.' },
  );
  return list(item, {
    ...LIST,
    description: 'Which instance types and offerings the overlay changes: those that meet every condition.',
    rules: [NOT_IN_NEEDS_VALUES, IN_NEEDS_VALUES, NUMBER_OPERATORS],
  });
}

/** One requirement, as pools, claims and overlays write it. */
export type Requirement = Infer<ReturnType<typeof requirements>>[number];
