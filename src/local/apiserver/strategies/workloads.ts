/** Rules for what makes pods: Deployments, ReplicaSets, StatefulSets, DaemonSets, Jobs, CronJobs and their kin. */
import {
  ensureFields,
  fieldsAt,
  isFields,
  listAt,
  sameJson,
  setDefaults,
  textAt,
  type ApiObject,
  type Fields,
} from '../fields.ts';
import type { Strategy } from '../resource.ts';
import { labelSelectorPredicate } from '../selectors.ts';
import { invalidValue, required, type FieldError } from '../status.ts';
import { defaultPodTemplate } from './podTemplate.ts';

const REVISIONS_KEPT = 10;
const DEADLINE_SECONDS = 600;
const QUARTER = '25%';

function spec(draft: ApiObject): Fields {
  return ensureFields(draft, 'spec');
}

function templateLabels(draft: ApiObject): Record<string, string> {
  return (fieldsAt(draft, 'spec', 'template', 'metadata', 'labels') ?? {}) as Record<string, string>;
}

/** A workload must select its own pods, and may never change its mind about which those are. */
function checkSelector(draft: ApiObject, old: ApiObject | undefined): FieldError[] {
  const selector = fieldsAt(draft, 'spec', 'selector');
  const errors: FieldError[] = [];
  if (selector === undefined || Object.keys(selector).length === 0) {
    errors.push(required('spec.selector'));
  } else if (!labelSelectorPredicate(selector)(templateLabels(draft))) {
    errors.push(
      invalidValue(
        'spec.template.metadata.labels',
        templateLabels(draft),
        '`selector` does not match template `labels`',
      ),
    );
  }
  if (old !== undefined && !sameJson(selector, fieldsAt(old, 'spec', 'selector'))) {
    errors.push(invalidValue('spec.selector', selector, 'field is immutable'));
  }
  return [...errors, ...checkTemplate(draft)];
}

function checkTemplate(draft: ApiObject): FieldError[] {
  const errors: FieldError[] = [];
  const containers = listAt(draft, 'spec', 'template', 'spec', 'containers');
  if (containers.length === 0) errors.push(required('spec.template.spec.containers'));
  containers.forEach((container, index) => {
    for (const field of ['name', 'image']) {
      if ((textAt(container, field) ?? '') === '')
        errors.push(required(`spec.template.spec.containers[${index}].${field}`));
    }
  });
  const replicas = fieldsAt(draft, 'spec')?.['replicas'];
  if (typeof replicas === 'number' && replicas < 0) {
    errors.push(invalidValue('spec.replicas', replicas, 'must be greater than or equal to 0'));
  }
  return errors;
}

export const deploymentStrategy: Strategy = {
  tracksGeneration: true,
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
  validate: checkSelector,
};

export const replicaSetStrategy: Strategy = {
  tracksGeneration: true,
  applyDefaults(draft) {
    setDefaults(spec(draft), { replicas: 1 });
    defaultPodTemplate(spec(draft));
  },
  validate: checkSelector,
};

export const replicationControllerStrategy: Strategy = {
  tracksGeneration: true,
  applyDefaults(draft) {
    const labels = templateLabels(draft);
    setDefaults(spec(draft), { replicas: 1, selector: { ...labels } });
    defaultPodTemplate(spec(draft));
  },
  validate: (draft) => checkTemplate(draft),
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
  validate: checkSelector,
};

export const daemonSetStrategy: Strategy = {
  tracksGeneration: true,
  applyDefaults(draft) {
    setDefaults(spec(draft), { revisionHistoryLimit: REVISIONS_KEPT });
    const strategy = ensureFields(spec(draft), 'updateStrategy');
    setDefaults(strategy, { type: 'RollingUpdate' });
    if (strategy['type'] === 'RollingUpdate') {
      setDefaults(ensureFields(strategy, 'rollingUpdate'), { maxUnavailable: 1, maxSurge: 0 });
    }
    defaultPodTemplate(spec(draft));
  },
  validate: checkSelector,
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
  defaultPodTemplate(job);
}

export const jobStrategy: Strategy = {
  tracksGeneration: true,
  applyDefaults(draft) {
    defaultJobSpec(spec(draft));
    const labels = templateLabels(draft);
    if (Object.keys(labels).length > 0 && draft.metadata.labels === undefined) draft.metadata.labels = { ...labels };
  },
  prepareCreate(draft, context) {
    if (spec(draft)['manualSelector'] === true) return;
    // The selector must be the job's alone, so it is made from an id that nobody else has.
    draft.metadata.uid ??= context.uuid();
    const uid = draft.metadata.uid;
    const metadata = ensureFields(ensureFields(spec(draft), 'template'), 'metadata');
    const labels = ensureFields(metadata, 'labels');
    const followsTemplate = sameJson(draft.metadata.labels, labels);
    setDefaults(labels, {
      'batch.kubernetes.io/controller-uid': uid,
      'batch.kubernetes.io/job-name': draft.metadata.name,
      'controller-uid': uid,
      'job-name': draft.metadata.name,
    });
    if (followsTemplate) draft.metadata.labels = { ...labels } as Record<string, string>;
    spec(draft)['selector'] = { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } };
  },
  validate(draft, old) {
    const errors = checkTemplate(draft);
    const policy = textAt(draft, 'spec', 'template', 'spec', 'restartPolicy');
    if (policy !== 'OnFailure' && policy !== 'Never') {
      errors.push({
        ...required('spec.template.spec.restartPolicy', 'valid values: "OnFailure", "Never"'),
      });
    }
    if (old !== undefined) {
      for (const field of ['selector', 'completionMode']) {
        const before = fieldsAt(old, 'spec')?.[field];
        const after = fieldsAt(draft, 'spec')?.[field];
        if (!sameJson(before, after)) errors.push(invalidValue(`spec.${field}`, after, 'field is immutable'));
      }
    }
    return errors;
  },
};

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
    return (textAt(draft, 'spec', 'schedule') ?? '') === '' ? [required('spec.schedule')] : [];
  },
};

export const podTemplateStrategy: Strategy = {
  tracksGeneration: true,
  applyDefaults: (draft) => defaultPodTemplate(draft),
};
