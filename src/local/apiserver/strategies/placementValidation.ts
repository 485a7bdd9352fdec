/** Validates tolerations, affinity and topology spread constraints. */
import { qualifiedNameProblems } from '../names.ts';
import { Check } from './check.ts';

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
const OPERATORS = ['Equal', 'Exists'];
const UNSATISFIABLE = ['DoNotSchedule', 'ScheduleAnyway'];
const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';
const MAX_WEIGHT = 100;

export function checkTolerations(spec: Check): void {
  spec.each('tolerations', (toleration) => {
    const key = toleration.text('key');
    const operator = toleration.text('operator');
    const effect = toleration.text('effect');
    if (key !== '') toleration.problems('key', key, qualifiedNameProblems);
    else if (operator !== 'Exists') {
      const why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
      toleration.invalid('operator', operator, why);
    }
    if (toleration.number('tolerationSeconds') !== undefined && effect !== 'NoExecute') {
      toleration.invalid('effect', effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
    }
    if (operator === 'Exists' && toleration.text('value') !== '') {
      toleration.invalid('operator', toleration.text('value'), "value must be empty when `operator` is 'Exists'");
    }
    toleration.oneOfIfGiven('operator', OPERATORS);
    toleration.oneOfIfGiven('effect', EFFECTS);
  });
}

function checkNodeTerm(term: Check): void {
  term.each('matchExpressions', (expression) => {
    const operator = expression.text('operator');
    const { length } = expression.list('values');
    switch (operator) {
      case 'In':
      case 'NotIn':
        if (length === 0) expression.missing('values', "must be specified when `operator` is 'In' or 'NotIn'");
        break;
      case 'Exists':
      case 'DoesNotExist':
        if (length > 0) {
          expression.forbidden('values', "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
        }
        break;
      case 'Gt':
      case 'Lt':
        if (length !== 1) {
          expression.missing('values', "must be specified single value when `operator` is 'Lt' or 'Gt'");
        }
        break;
      default:
        expression.invalid('operator', operator, 'not a valid selector operator');
    }
    expression.problems('key', expression.text('key'), qualifiedNameProblems);
  });
}

function checkWeight(entry: Check): void {
  const weight = entry.number('weight') ?? 0;
  if (weight < 1 || weight > MAX_WEIGHT) entry.invalid('weight', weight, 'must be in the range 1-100');
}

/** `field`: the path of the topology key, relative to the term. */
function checkTopologyKey(term: Check, key: string, field: string): void {
  if (key === '') term.missing(field, 'can not be empty');
  term.problems(field, key, qualifiedNameProblems);
}

export function checkAffinity(spec: Check): void {
  const node = spec.inside('affinity', 'nodeAffinity');
  const wanted = node?.inside(REQUIRED);
  if (wanted?.list('nodeSelectorTerms').length === 0) {
    wanted.missing('nodeSelectorTerms', 'must have at least one node selector term');
  }
  wanted?.each('nodeSelectorTerms', checkNodeTerm);
  node?.each(PREFERRED, (entry) => {
    checkWeight(entry);
    const preference = entry.inside('preference');
    if (preference !== undefined) checkNodeTerm(preference);
  });
  for (const kind of ['podAffinity', 'podAntiAffinity']) {
    const affinity = spec.inside('affinity', kind);
    affinity?.each(REQUIRED, (term) => checkTopologyKey(term, term.text('topologyKey'), 'topologyKey'));
    affinity?.each(PREFERRED, (entry) => {
      checkWeight(entry);
      const key = entry.inside('podAffinityTerm')?.text('topologyKey') ?? '';
      checkTopologyKey(entry, key, 'podAffinityTerm.topologyKey');
    });
  }
}

export function checkSpread(spec: Check): void {
  const all = spec.list('topologySpreadConstraints').map((one) => new Check(one, ''));
  spec.each('topologySpreadConstraints', (constraint, index) => {
    const skew = constraint.number('maxSkew') ?? 0;
    const key = constraint.text('topologyKey');
    const policy = constraint.text('whenUnsatisfiable');
    if (skew <= 0) constraint.invalid('maxSkew', skew, 'must be greater than zero');
    if (key === '') constraint.missing('topologyKey', 'can not be empty');
    else constraint.problems('topologyKey', key, qualifiedNameProblems);
    constraint.oneOf('whenUnsatisfiable', UNSATISFIABLE);
    const least = constraint.number('minDomains');
    if (least !== undefined && least <= 0) constraint.invalid('minDomains', least, 'must be greater than 0');
    const later = all.slice(index + 1);
    if (later.some((one) => one.text('topologyKey') === key && one.text('whenUnsatisfiable') === policy)) {
      constraint.duplicate('{topologyKey, whenUnsatisfiable}', `{${key}, ${policy}}`);
    }
  });
}
