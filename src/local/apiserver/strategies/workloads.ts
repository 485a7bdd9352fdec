/** Rules for workloads: Deployments, ReplicaSets, StatefulSets, DaemonSets and related kinds. */
import { always, each } from '../defaults.ts';
import { ensureFields, fieldsAt, sameJson, setDefaults, type ApiObject, type Fields } from '../fields.ts';
import type { Strategy } from '../resource.ts';
import { labelSelectorPredicate } from '../selectors.ts';
import { invalidValue, unsupportedValue, type FieldError } from '../status.ts';
import { Check } from './check.ts';
import { goStruct } from './goNames.ts';
import { checkPodSpec } from './podSpecValidation.ts';
import { TEMPLATE } from './podTemplate.ts';

const REVISIONS_KEPT = 10;
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';
const OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist'];
const NO_STRATEGY = { Type: '', RollingUpdate: null };

export function templateLabels(draft: ApiObject): Record<string, string> {
  return (fieldsAt(draft, 'spec', 'template', 'metadata', 'labels') ?? {}) as Record<string, string>;
}

/** Checks that the selector is valid, matches the template, and is unchanged. */
function checkSelector(draft: ApiObject, old: ApiObject | undefined, kind: string): readonly FieldError[] {
  const spec = new Check(draft['spec'], 'spec');
  const selector = fieldsAt(draft, 'spec', 'selector');
  if (selector === undefined) spec.missing('selector');
  else if (Object.keys(selector).length === 0) {
    spec.invalid('selector', selector, `empty selector is invalid for ${kind}`);
    return spec.errors;
  }
  spec.inside('selector')?.each('matchExpressions', (expression) => {
    const operator = expression.text('operator');
    if (!OPERATORS.includes(operator)) expression.invalid('operator', operator, 'not a valid selector operator');
  });
  if (selector !== undefined && spec.errors.length > 0) {
    spec.invalid('selector', selector, 'invalid label selector');
    return spec.errors;
  }
  if (selector === undefined || !labelSelectorPredicate(selector)(templateLabels(draft))) {
    const labels = fieldsAt(draft, 'spec', 'template', 'metadata', 'labels');
    spec.invalid('template.metadata.labels', labels, '`selector` does not match template `labels`');
  }
  if (old !== undefined && !sameJson(selector, fieldsAt(old, 'spec', 'selector'))) {
    const error = invalidValue('spec.selector', selector, 'field is immutable');
    // The order of upstream's checks depends on the kind.
    if (kind === 'daemonset') spec.errors.unshift(error);
    else spec.errors.push(error);
  }
  return spec.errors;
}

function checkWorkload(check: Check, draft: ApiObject, old: ApiObject | undefined, kind: string): Check {
  const spec = check.at('spec');
  const known = check.errors.length;
  spec.notNegative('replicas');
  spec.errors.push(...checkSelector(draft, old, kind));
  // Upstream does not validate the pod spec of a StatefulSet, whose volumes are partly in claim templates.
  if (kind !== 'statefulset') checkPodSpec(spec.at('template', 'spec'));
  if (spec.errors.length === known) spec.inside('template', 'spec')?.oneOf('restartPolicy', ['Always']);
  spec.notNegative('minReadySeconds');
  return spec;
}

const PERCENT = /^[0-9]+%$/;
const PERCENT_MESSAGE =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

const isNothing = (share: unknown): boolean => share === 0 || share === '0%' || share === undefined;

function checkStrategy(spec: Check): void {
  const strategy = spec.at('strategy');
  const type = strategy.text('type');
  const rolling = strategy.at('rollingUpdate');
  if (type === 'Recreate') {
    if (rolling.value === undefined) return;
    strategy.forbidden('rollingUpdate', "may not be specified when strategy `type` is 'Recreate'");
    return;
  }
  if (type !== 'RollingUpdate') {
    const shown = goStruct(strategy.value, NO_STRATEGY);
    spec.errors.push(unsupportedValue('spec.strategy', shown, ['Recreate', 'RollingUpdate']));
    return;
  }
  for (const field of ['maxUnavailable', 'maxSurge']) {
    const share = rolling.get(field);
    if (typeof share === 'string' && !PERCENT.test(share)) rolling.invalid(field, share, PERCENT_MESSAGE);
    rolling.notNegative(field);
  }
  if (isNothing(rolling.get('maxUnavailable')) && isNothing(rolling.get('maxSurge'))) {
    rolling.invalid('maxUnavailable', rolling.get('maxUnavailable') ?? 0, 'may not be 0 when `maxSurge` is 0');
  }
}

/** Returns the defaults of an update strategy; `rolling`: those of a rolling update. */
const updating = (rolling: Fields): unknown =>
  always({ type: 'RollingUpdate' }, (strategy) => {
    if (strategy['type'] === 'RollingUpdate') setDefaults(ensureFields(strategy, 'rollingUpdate'), rolling);
  });

export const deploymentStrategy: Strategy = {
  tracksGeneration: true,
  countsAnnotations: true,
  defaults: {
    spec: always({
      replicas: 1,
      revisionHistoryLimit: REVISIONS_KEPT,
      progressDeadlineSeconds: 600,
      strategy: updating({ maxUnavailable: '25%', maxSurge: '25%' }),
      template: TEMPLATE,
    }),
  },
  validate(check, draft, old) {
    const spec = checkWorkload(check, draft, old, 'deployment');
    checkStrategy(spec);
    const deadline = spec.number('progressDeadlineSeconds');
    if (deadline !== undefined && deadline <= (spec.number('minReadySeconds') ?? 0)) {
      spec.invalid('progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds');
    }
  },
};

export const replicaSetStrategy: Strategy = {
  tracksGeneration: true,
  defaults: { spec: always({ replicas: 1, template: TEMPLATE }) },
  validate: (check, draft, old) => void checkWorkload(check, draft, old, 'replicaset'),
};

export const replicationControllerStrategy: Strategy = {
  tracksGeneration: true,
  defaults: { spec: always({ replicas: 1, template: TEMPLATE }) },
  applyDefaults(draft) {
    const labels = templateLabels(draft);
    setDefaults(ensureFields(draft, 'spec'), { selector: { ...labels } });
    if (Object.keys(labels).length > 0 && draft.metadata.labels === undefined) draft.metadata.labels = { ...labels };
  },
  validate(check) {
    check.at('spec').notNegative('replicas');
    checkPodSpec(check.at('spec', 'template', 'spec'));
  },
};

const STATEFUL_CHANGEABLE = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
];
const STATEFUL_FIXED = `updates to statefulset spec for fields other than ${STATEFUL_CHANGEABLE.map(
  (name) => `'${name}'`,
)
  .join(', ')
  .replace(/, (?=[^,]*$)/, ' and ')} are forbidden`;

/** Returns the immutable fields of a StatefulSet's spec. */
function fixedPart(set: ApiObject): Fields {
  const entries = Object.entries(fieldsAt(set, 'spec') ?? {});
  return Object.fromEntries(entries.filter(([field]) => !STATEFUL_CHANGEABLE.includes(field)));
}

export const statefulSetStrategy: Strategy = {
  tracksGeneration: true,
  defaults: {
    spec: always({
      replicas: 1,
      podManagementPolicy: 'OrderedReady',
      revisionHistoryLimit: REVISIONS_KEPT,
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
      volumeClaimTemplates: each({
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        spec: always({ volumeMode: 'Filesystem' }),
        status: always({ phase: 'Pending' }),
      }),
      updateStrategy: updating({ partition: 0 }),
      template: TEMPLATE,
    }),
  },
  validate(check, draft, old) {
    const spec = check.at('spec');
    const policy = spec.text('podManagementPolicy');
    if (policy !== 'OrderedReady' && policy !== 'Parallel') {
      spec.invalid('podManagementPolicy', policy, "must be 'OrderedReady' or 'Parallel'");
    }
    if (old !== undefined && !sameJson(fixedPart(draft), fixedPart(old))) {
      spec.forbidden('', STATEFUL_FIXED);
    } else checkWorkload(check, draft, undefined, 'statefulset');
  },
};

export const daemonSetStrategy: Strategy = {
  tracksGeneration: true,
  defaults: {
    // Older clients read the generation of the template here.
    metadata: always({ annotations: always({ [TEMPLATE_GENERATION]: '1' }) }),
    spec: always({
      revisionHistoryLimit: REVISIONS_KEPT,
      updateStrategy: updating({ maxUnavailable: 1, maxSurge: 0 }),
      template: TEMPLATE,
    }),
  },
  prepareUpdate(draft, old) {
    const changed = !sameJson(fieldsAt(draft, 'spec', 'template'), fieldsAt(old, 'spec', 'template'));
    const before = Number(old.metadata.annotations?.[TEMPLATE_GENERATION] ?? 1);
    const generation = String(changed ? before + 1 : before);
    draft.metadata.annotations = { ...draft.metadata.annotations, [TEMPLATE_GENERATION]: generation };
  },
  validate(check, draft, old) {
    const spec = checkWorkload(check, draft, old, 'daemonset');
    const type = spec.inside('updateStrategy')?.text('type') ?? '';
    if (type !== 'RollingUpdate' && type !== 'OnDelete') {
      const shown = goStruct(spec.get('updateStrategy'), NO_STRATEGY);
      spec.errors.push(unsupportedValue('spec.updateStrategy', shown, ['RollingUpdate', 'OnDelete']));
    }
  },
};

export const controllerRevisionStrategy: Strategy = {
  validate(check, draft) {
    if ((draft['data'] ?? undefined) === undefined) check.missing('data', 'data is mandatory');
  },
};

export const podTemplateStrategy: Strategy = {
  tracksGeneration: true,
  defaults: { template: TEMPLATE },
};
