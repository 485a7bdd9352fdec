/** Where pods may run: tolerations, affinity, spread. In: a pod spec and its place. Out: field errors in upstream's words. */
import { fieldsAt, listAt, numberAt, textAt, type Fields } from '../fields.ts';
import { qualifiedNameProblems } from '../names.ts';
import { duplicateValue, invalidValue, required, unsupportedValue, type FieldError } from '../status.ts';

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
const OPERATORS = ['Equal', 'Exists'];
const UNSATISFIABLE = ['DoNotSchedule', 'ScheduleAnyway'];
const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';
const MAX_WEIGHT = 100;

const qualified = (place: string, key: string): FieldError[] =>
  qualifiedNameProblems(key).map((why) => invalidValue(place, key, why));

export function checkTolerations(spec: Fields, path: string): FieldError[] {
  const errors: FieldError[] = [];
  listAt(spec, 'tolerations').forEach((toleration, index) => {
    const place = `${path}.tolerations[${index}]`;
    const key = textAt(toleration, 'key') ?? '';
    const operator = textAt(toleration, 'operator') ?? '';
    const value = textAt(toleration, 'value') ?? '';
    const effect = textAt(toleration, 'effect') ?? '';
    if (key !== '') errors.push(...qualified(`${place}.key`, key));
    if (key === '' && operator !== 'Exists') {
      const why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
      errors.push(invalidValue(`${place}.operator`, operator, why));
    }
    if (numberAt(toleration, 'tolerationSeconds') !== undefined && effect !== 'NoExecute') {
      const why = "effect must be 'NoExecute' when `tolerationSeconds` is set";
      errors.push(invalidValue(`${place}.effect`, effect, why));
    }
    if (operator === 'Exists' && value !== '') {
      errors.push(invalidValue(`${place}.operator`, value, "value must be empty when `operator` is 'Exists'"));
    }
    if (operator !== '' && !OPERATORS.includes(operator)) {
      errors.push(unsupportedValue(`${place}.operator`, operator, OPERATORS));
    }
    if (effect !== '' && !EFFECTS.includes(effect)) {
      errors.push(unsupportedValue(`${place}.effect`, effect, EFFECTS));
    }
  });
  return errors;
}

function checkNodeTerm(term: unknown, path: string): FieldError[] {
  const errors: FieldError[] = [];
  listAt(term, 'matchExpressions').forEach((expression, index) => {
    const place = `${path}.matchExpressions[${index}]`;
    const operator = textAt(expression, 'operator') ?? '';
    const count = listAt(expression, 'values').length;
    switch (operator) {
      case 'In':
      case 'NotIn':
        if (count === 0) {
          errors.push(required(`${place}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
        }
        break;
      case 'Exists':
      case 'DoesNotExist':
        if (count > 0) {
          const why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
          errors.push({ field: `${place}.values`, message: `Forbidden: ${why}`, reason: 'FieldValueForbidden' });
        }
        break;
      case 'Gt':
      case 'Lt':
        if (count !== 1) {
          errors.push(required(`${place}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
        }
        break;
      default:
        errors.push(invalidValue(`${place}.operator`, operator, 'not a valid selector operator'));
    }
    errors.push(...qualified(`${place}.key`, textAt(expression, 'key') ?? ''));
  });
  return errors;
}

function weightError(entry: unknown, place: string): FieldError[] {
  const weight = numberAt(entry, 'weight') ?? 0;
  return weight < 1 || weight > MAX_WEIGHT
    ? [invalidValue(`${place}.weight`, weight, 'must be in the range 1-100')]
    : [];
}

function checkPodTerm(term: unknown, path: string): FieldError[] {
  const key = textAt(term, 'topologyKey') ?? '';
  return [
    ...(key === '' ? [required(`${path}.topologyKey`, 'can not be empty')] : []),
    ...qualified(`${path}.topologyKey`, key),
  ];
}

export function checkAffinity(spec: Fields, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const node = fieldsAt(spec, 'affinity', 'nodeAffinity');
  const wanted = fieldsAt(node, REQUIRED);
  if (wanted !== undefined) {
    const place = `${path}.affinity.nodeAffinity.${REQUIRED}.nodeSelectorTerms`;
    const terms = listAt(wanted, 'nodeSelectorTerms');
    if (terms.length === 0) errors.push(required(place, 'must have at least one node selector term'));
    terms.forEach((term, index) => errors.push(...checkNodeTerm(term, `${place}[${index}]`)));
  }
  listAt(node, PREFERRED).forEach((entry, index) => {
    const place = `${path}.affinity.nodeAffinity.${PREFERRED}[${index}]`;
    errors.push(...weightError(entry, place));
    errors.push(...checkNodeTerm(fieldsAt(entry, 'preference'), `${place}.preference`));
  });
  for (const kind of ['podAffinity', 'podAntiAffinity']) {
    const affinity = fieldsAt(spec, 'affinity', kind);
    listAt(affinity, REQUIRED).forEach((term, index) => {
      errors.push(...checkPodTerm(term, `${path}.affinity.${kind}.${REQUIRED}[${index}]`));
    });
    listAt(affinity, PREFERRED).forEach((entry, index) => {
      const place = `${path}.affinity.${kind}.${PREFERRED}[${index}]`;
      errors.push(...weightError(entry, place));
      errors.push(...checkPodTerm(fieldsAt(entry, 'podAffinityTerm'), `${place}.podAffinityTerm`));
    });
  }
  return errors;
}

export function checkSpread(spec: Fields, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const constraints = listAt(spec, 'topologySpreadConstraints');
  constraints.forEach((constraint, index) => {
    const place = `${path}.topologySpreadConstraints[${index}]`;
    const skew = numberAt(constraint, 'maxSkew') ?? 0;
    const key = textAt(constraint, 'topologyKey') ?? '';
    const policy = textAt(constraint, 'whenUnsatisfiable') ?? '';
    if (skew <= 0) errors.push(invalidValue(`${place}.maxSkew`, skew, 'must be greater than zero'));
    if (key === '') errors.push(required(`${place}.topologyKey`, 'can not be empty'));
    else errors.push(...qualified(`${place}.topologyKey`, key));
    if (!UNSATISFIABLE.includes(policy)) {
      errors.push(unsupportedValue(`${place}.whenUnsatisfiable`, policy, UNSATISFIABLE));
    }
    const least = numberAt(constraint, 'minDomains');
    if (least !== undefined && least <= 0) {
      errors.push(invalidValue(`${place}.minDomains`, least, 'must be greater than 0'));
    }
    const repeated = constraints
      .slice(index + 1)
      .some((one) => textAt(one, 'topologyKey') === key && textAt(one, 'whenUnsatisfiable') === policy);
    if (repeated) {
      errors.push(duplicateValue(`${place}.{topologyKey, whenUnsatisfiable}`, `{${key}, ${policy}}`));
    }
  });
  return errors;
}
