/** Rules for what makes pods: Deployments, ReplicaSets, StatefulSets, DaemonSets, Jobs, CronJobs and their kin. */
import {
  ensureFields,
  fieldsAt,
  isFields,
  listAt,
  numberAt,
  sameJson,
  setDefaults,
  textAt,
  type ApiObject,
  type Fields,
} from '../fields.ts';
import type { Strategy } from '../resource.ts';
import { labelSelectorPredicate } from '../selectors.ts';
import { forbiddenChange, invalidValue, required, unsupportedValue, type FieldError } from '../status.ts';
import { goStruct } from './goNames.ts';
import { checkPodSpec } from './podSpecValidation.ts';
import { defaultPodTemplate } from './podTemplate.ts';

const REVISIONS_KEPT = 10;
const DEADLINE_SECONDS = 600;
const QUARTER = '25%';
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

function spec(draft: ApiObject): Fields {
  return ensureFields(draft, 'spec');
}

function templateLabels(draft: ApiObject): Record<string, string> {
  return (fieldsAt(draft, 'spec', 'template', 'metadata', 'labels') ?? {}) as Record<string, string>;
}

const OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist'];

/** A workload must select its own pods, and may never change its mind about which those are. */
function checkSelector(draft: ApiObject, old: ApiObject | undefined, kind: string): FieldError[] {
  const selector = fieldsAt(draft, 'spec', 'selector');
  const errors: FieldError[] = [];
  if (selector === undefined) errors.push(required('spec.selector'));
  else if (Object.keys(selector).length === 0) {
    errors.push(invalidValue('spec.selector', selector, `empty selector is invalid for ${kind}`));
    return errors;
  } else {
    listAt(selector, 'matchExpressions').forEach((expression, index) => {
      const operator = textAt(expression, 'operator') ?? '';
      const place = `spec.selector.matchExpressions[${index}].operator`;
      if (!OPERATORS.includes(operator)) errors.push(invalidValue(place, operator, 'not a valid selector operator'));
    });
    if (errors.length > 0) {
      errors.push(invalidValue('spec.selector', selector, 'invalid label selector'));
      return errors;
    }
  }
  if (selector === undefined || !labelSelectorPredicate(selector)(templateLabels(draft))) {
    const labels = fieldsAt(draft, 'spec', 'template', 'metadata', 'labels');
    errors.push(invalidValue('spec.template.metadata.labels', labels, '`selector` does not match template `labels`'));
  }
  if (old !== undefined && !sameJson(selector, fieldsAt(old, 'spec', 'selector'))) {
    const error = invalidValue('spec.selector', selector, 'field is immutable');
    // Each kind has its own order of saying so.
    if (kind === 'daemonset') errors.unshift(error);
    else errors.push(error);
  }
  return errors;
}

function checkTemplateSpec(draft: ApiObject): FieldError[] {
  return checkPodSpec(fieldsAt(draft, 'spec', 'template', 'spec') ?? {}, 'spec.template.spec');
}

/** Everything that keeps its pods running. */
function checkWorkload(draft: ApiObject, old: ApiObject | undefined, kind: string): FieldError[] {
  // Upstream does not look into the pods of a StatefulSet: their volumes come from elsewhere.
  const inside = kind === 'statefulset' ? [] : checkTemplateSpec(draft);
  const errors = [...atLeastZero(draft, 'replicas'), ...checkSelector(draft, old, kind), ...inside];
  const policy = textAt(draft, 'spec', 'template', 'spec', 'restartPolicy');
  if (policy !== 'Always' && errors.length === 0) {
    errors.push(unsupportedValue('spec.template.spec.restartPolicy', policy, ['Always']));
  }
  return [...errors, ...atLeastZero(draft, 'minReadySeconds')];
}

function atLeastZero(draft: ApiObject, field: string): FieldError[] {
  const value = numberAt(draft, 'spec', field) ?? 0;
  return value < 0 ? [invalidValue(`spec.${field}`, value, 'must be greater than or equal to 0')] : [];
}

const PERCENT = /^[0-9]+%$/;
const PERCENT_MESSAGE =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

function checkShare(value: unknown, path: string): FieldError[] {
  if (typeof value === 'string') return PERCENT.test(value) ? [] : [invalidValue(path, value, PERCENT_MESSAGE)];
  return typeof value === 'number' && value < 0
    ? [invalidValue(path, value, 'must be greater than or equal to 0')]
    : [];
}

const isNothing = (share: unknown): boolean => share === 0 || share === '0%' || share === undefined;

function checkStrategy(draft: ApiObject): FieldError[] {
  const strategy = fieldsAt(draft, 'spec', 'strategy') ?? {};
  const rolling = fieldsAt(strategy, 'rollingUpdate');
  const type = textAt(strategy, 'type') ?? '';
  if (type === 'Recreate') {
    if (rolling === undefined) return [];
    const why = "may not be specified when strategy `type` is 'Recreate'";
    return [forbiddenChange('spec.strategy.rollingUpdate', why)];
  }
  if (type !== 'RollingUpdate') {
    const shown = goStruct(strategy, { Type: '', RollingUpdate: null });
    return [unsupportedValue('spec.strategy', shown, ['Recreate', 'RollingUpdate'])];
  }
  const errors = ['maxUnavailable', 'maxSurge'].flatMap((field) =>
    checkShare(rolling?.[field], `spec.strategy.rollingUpdate.${field}`),
  );
  if (isNothing(rolling?.['maxUnavailable']) && isNothing(rolling?.['maxSurge'])) {
    const why = 'may not be 0 when `maxSurge` is 0';
    errors.push(invalidValue('spec.strategy.rollingUpdate.maxUnavailable', rolling?.['maxUnavailable'] ?? 0, why));
  }
  return errors;
}

function checkDeployment(draft: ApiObject, old: ApiObject | undefined): FieldError[] {
  const errors = [...checkWorkload(draft, old, 'deployment'), ...checkStrategy(draft)];
  const deadline = numberAt(draft, 'spec', 'progressDeadlineSeconds');
  if (deadline !== undefined && deadline <= (numberAt(draft, 'spec', 'minReadySeconds') ?? 0)) {
    errors.push(invalidValue('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds'));
  }
  return errors;
}

const STATEFUL_CHANGEABLE = new Set([
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
]);

function checkStatefulSet(draft: ApiObject, old: ApiObject | undefined): FieldError[] {
  const policy = textAt(draft, 'spec', 'podManagementPolicy') ?? '';
  const errors: FieldError[] = [];
  if (policy !== 'OrderedReady' && policy !== 'Parallel') {
    const why = "must be 'OrderedReady' or 'Parallel'";
    errors.push(invalidValue('spec.podManagementPolicy', policy, why));
  }
  if (old !== undefined) {
    const fixed = (object: ApiObject): Fields =>
      Object.fromEntries(
        Object.entries(fieldsAt(object, 'spec') ?? {}).filter(([field]) => !STATEFUL_CHANGEABLE.has(field)),
      );
    if (!sameJson(fixed(draft), fixed(old))) {
      const names = [...STATEFUL_CHANGEABLE].map((name) => `'${name}'`);
      const list = `${names.slice(0, -1).join(', ')} and ${names.at(-1) ?? ''}`;
      const why = `updates to statefulset spec for fields other than ${list} are forbidden`;
      return [...errors, forbiddenChange('spec', why)];
    }
  }
  return [...errors, ...checkWorkload(draft, undefined, 'statefulset')];
}

function checkDaemonSet(draft: ApiObject, old: ApiObject | undefined): FieldError[] {
  const errors = checkWorkload(draft, old, 'daemonset');
  const strategy = fieldsAt(draft, 'spec', 'updateStrategy') ?? {};
  const type = textAt(strategy, 'type') ?? '';
  if (type !== 'RollingUpdate' && type !== 'OnDelete') {
    const shown = goStruct(strategy, { Type: '', RollingUpdate: null });
    errors.push(unsupportedValue('spec.updateStrategy', shown, ['RollingUpdate', 'OnDelete']));
  }
  return errors;
}

export const deploymentStrategy: Strategy = {
  tracksGeneration: true,
  countsAnnotations: true,
  applyDefaults(draft) {
    setDefaults(spec(draft), {
      replicas: 1,
      revisionHistoryLimit: REVISIONS_KEPT,
      progressDeadlineSeconds: DEADLINE_SECONDS,
    });
    const strategy = ensureFields(spec(draft), 'strategy');
    setDefaults(strategy, { type: 'RollingUpdate' });
    if (strategy['type'] === 'RollingUpdate') {
      setDefaults(ensureFields(strategy, 'rollingUpdate'), { maxUnavailable: QUARTER, maxSurge: QUARTER });
    }
    defaultPodTemplate(spec(draft));
  },
  validate: checkDeployment,
};

export const replicaSetStrategy: Strategy = {
  tracksGeneration: true,
  applyDefaults(draft) {
    setDefaults(spec(draft), { replicas: 1 });
    defaultPodTemplate(spec(draft));
  },
  validate: (draft, old) => checkWorkload(draft, old, 'replicaset'),
};

export const replicationControllerStrategy: Strategy = {
  tracksGeneration: true,
  applyDefaults(draft) {
    const labels = templateLabels(draft);
    setDefaults(spec(draft), { replicas: 1, selector: { ...labels } });
    if (Object.keys(labels).length > 0 && draft.metadata.labels === undefined) draft.metadata.labels = { ...labels };
    defaultPodTemplate(spec(draft));
  },
  validate: (draft) => [...atLeastZero(draft, 'replicas'), ...checkTemplateSpec(draft)],
};

export const statefulSetStrategy: Strategy = {
  tracksGeneration: true,
  applyDefaults(draft) {
    setDefaults(spec(draft), {
      replicas: 1,
      podManagementPolicy: 'OrderedReady',
      revisionHistoryLimit: REVISIONS_KEPT,
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
    });
    const strategy = ensureFields(spec(draft), 'updateStrategy');
    setDefaults(strategy, { type: 'RollingUpdate' });
    if (strategy['type'] === 'RollingUpdate') setDefaults(ensureFields(strategy, 'rollingUpdate'), { partition: 0 });
    for (const claim of listAt(spec(draft), 'volumeClaimTemplates')) {
      if (!isFields(claim)) continue;
      setDefaults(claim, { apiVersion: 'v1', kind: 'PersistentVolumeClaim' });
      setDefaults(ensureFields(claim, 'spec'), { volumeMode: 'Filesystem' });
      setDefaults(ensureFields(claim, 'status'), { phase: 'Pending' });
    }
    defaultPodTemplate(spec(draft));
  },
  validate: checkStatefulSet,
};

export const daemonSetStrategy: Strategy = {
  tracksGeneration: true,
  applyDefaults(draft) {
    setDefaults(spec(draft), { revisionHistoryLimit: REVISIONS_KEPT });
    // Older clients count template generations by this.
    draft.metadata.annotations = { [TEMPLATE_GENERATION]: '1', ...draft.metadata.annotations };
    const strategy = ensureFields(spec(draft), 'updateStrategy');
    setDefaults(strategy, { type: 'RollingUpdate' });
    if (strategy['type'] === 'RollingUpdate') {
      setDefaults(ensureFields(strategy, 'rollingUpdate'), { maxUnavailable: 1, maxSurge: 0 });
    }
    defaultPodTemplate(spec(draft));
  },
  prepareUpdate(draft, old) {
    const changed = !sameJson(fieldsAt(draft, 'spec', 'template'), fieldsAt(old, 'spec', 'template'));
    const before = Number(old.metadata.annotations?.[TEMPLATE_GENERATION] ?? 1);
    const generation = String(changed ? before + 1 : before);
    draft.metadata.annotations = { ...draft.metadata.annotations, [TEMPLATE_GENERATION]: generation };
  },
  validate: checkDaemonSet,
};

const JOB_DEFAULTS = {
  completionMode: 'NonIndexed',
  suspend: false,
  manualSelector: false,
  backoffLimit: 6,
  podReplacementPolicy: 'TerminatingOrFailed',
};

function defaultJobSpec(job: Fields): void {
  // Parallelism and completions default together: a work queue leaves completions open.
  if (job['completions'] === undefined && job['parallelism'] === undefined) job['completions'] = 1;
  setDefaults(job, { parallelism: 1, ...JOB_DEFAULTS });
  for (const rule of listAt(job, 'podFailurePolicy', 'rules')) {
    for (const pattern of listAt(rule, 'onPodConditions')) {
      if (isFields(pattern) && (pattern['status'] ?? '') === '') pattern['status'] = 'True';
    }
  }
  defaultPodTemplate(job);
}

export const jobStrategy: Strategy = {
  tracksGeneration: true,
  applyDefaults(draft) {
    defaultJobSpec(spec(draft));
    const labels = templateLabels(draft);
    // The same labels, not equal ones: what the template gets at birth, the job gets too.
    if (Object.keys(labels).length > 0 && draft.metadata.labels === undefined) draft.metadata.labels = labels;
  },
  prepareCreate(draft) {
    if (spec(draft)['manualSelector'] === true) return;
    // The selector must be the job's alone, so it is made from its uid.
    const { uid } = draft.metadata;
    const metadata = ensureFields(ensureFields(spec(draft), 'template'), 'metadata');
    const labels = ensureFields(metadata, 'labels');
    setDefaults(labels, {
      'batch.kubernetes.io/controller-uid': uid,
      'batch.kubernetes.io/job-name': draft.metadata.name,
      'controller-uid': uid,
      'job-name': draft.metadata.name,
    });
    if (Object.keys(draft.metadata.labels ?? {}).length === 0) draft.metadata.labels = labels as Record<string, string>;
    const own = fieldsAt(spec(draft), 'selector', 'matchLabels');
    const matchLabels = { ...own, 'batch.kubernetes.io/controller-uid': uid };
    spec(draft)['selector'] = { ...fieldsAt(spec(draft), 'selector'), matchLabels };
  },
  validate: checkJob,
};

function checkJobSpec(job: Fields, path: string): FieldError[] {
  const errors = [
    'parallelism',
    'completions',
    'activeDeadlineSeconds',
    'backoffLimit',
    'ttlSecondsAfterFinished',
  ].flatMap((field) => {
    const value = numberAt(job, field) ?? 0;
    return value < 0 ? [invalidValue(`${path}.${field}`, value, 'must be greater than or equal to 0')] : [];
  });
  if (job['completionMode'] === 'Indexed' && job['completions'] === undefined) {
    errors.push(required(`${path}.completions`, 'when completion mode is Indexed'));
  }
  errors.push(...checkPodSpec(fieldsAt(job, 'template', 'spec') ?? {}, `${path}.template.spec`));
  const policy = textAt(job, 'template', 'spec', 'restartPolicy');
  if (policy !== 'OnFailure' && policy !== 'Never') {
    errors.push(required(`${path}.template.spec.restartPolicy`, 'valid values: "OnFailure", "Never"'));
  }
  return errors;
}

function checkJob(draft: ApiObject, old: ApiObject | undefined): FieldError[] {
  const errors: FieldError[] = [];
  const selector = fieldsAt(draft, 'spec', 'selector');
  const own = { matchLabels: { 'batch.kubernetes.io/controller-uid': draft.metadata.uid } };
  if (old === undefined && fieldsAt(draft, 'spec')?.['manualSelector'] !== true && !sameJson(selector, own)) {
    errors.push(invalidValue('spec.selector', selector, '`selector` not auto-generated'));
    if (!labelSelectorPredicate(selector)(templateLabels(draft))) {
      const why = '`selector` does not match template `labels`';
      errors.push(invalidValue('spec.template.metadata.labels', templateLabels(draft), why));
    }
  }
  errors.push(...checkJobSpec(fieldsAt(draft, 'spec') ?? {}, 'spec'));
  if (old === undefined) return errors;
  const isIndexed = textAt(draft, 'spec', 'completionMode') === 'Indexed';
  const isSuspended = fieldsAt(old, 'spec')?.['suspend'] === true;
  for (const field of ['completions', 'selector', 'template', 'completionMode', 'podFailurePolicy']) {
    if ((field === 'completions' && isIndexed) || (field === 'template' && isSuspended)) continue;
    const before = fieldsAt(old, 'spec')?.[field];
    const after = fieldsAt(draft, 'spec')?.[field];
    if (!sameJson(before, after)) errors.push(invalidValue(`spec.${field}`, after, 'field is immutable'));
  }
  return errors;
}

export const cronJobStrategy: Strategy = {
  tracksGeneration: true,
  applyDefaults(draft) {
    setDefaults(spec(draft), {
      concurrencyPolicy: 'Allow',
      suspend: false,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
    });
    const job = fieldsAt(draft, 'spec', 'jobTemplate', 'spec');
    if (job !== undefined) defaultPodTemplate(job);
  },
  validate(draft) {
    const errors: FieldError[] = [];
    const schedule = textAt(draft, 'spec', 'schedule') ?? '';
    if (schedule === '') errors.push(required('spec.schedule'));
    else errors.push(...checkSchedule(schedule));
    const zone = textAt(draft, 'spec', 'timeZone');
    if (zone !== undefined && !isTimeZone(zone)) {
      errors.push(invalidValue('spec.timeZone', zone, `unknown time zone ${zone}`));
    }
    const policy = textAt(draft, 'spec', 'concurrencyPolicy') ?? '';
    if (!CONCURRENCY.includes(policy)) errors.push(unsupportedValue('spec.concurrencyPolicy', policy, CONCURRENCY));
    errors.push(...checkJobSpec(fieldsAt(draft, 'spec', 'jobTemplate', 'spec') ?? {}, 'spec.jobTemplate.spec'));
    return errors;
  },
};

const CONCURRENCY = ['Allow', 'Forbid', 'Replace'];
const CRON_FIELDS = 5;

function checkSchedule(schedule: string): FieldError[] {
  if (schedule.startsWith('@')) return [];
  const fields = schedule.trim().split(/\s+/);
  if (fields.length === CRON_FIELDS) return [];
  const why = `expected exactly ${CRON_FIELDS} fields, found ${fields.length}: [${fields.join(' ')}]`;
  return [invalidValue('spec.schedule', schedule, why)];
}

function isTimeZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== '';
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

export const controllerRevisionStrategy: Strategy = {
  validate: (draft) => ((draft['data'] ?? undefined) === undefined ? [required('data', 'data is mandatory')] : []),
};

export const podTemplateStrategy: Strategy = {
  tracksGeneration: true,
  applyDefaults: (draft) => defaultPodTemplate(draft),
};
