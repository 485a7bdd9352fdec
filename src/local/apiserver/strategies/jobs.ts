/** Rules for Jobs and CronJobs. */
import { always, given } from '../defaults.ts';
import {
  ensureFields,
  fieldsAt,
  isFields,
  listAt,
  sameJson,
  setDefaults,
  type ApiObject,
  type Fields,
} from '../fields.ts';
import type { Strategy } from '../resource.ts';
import { labelSelectorPredicate } from '../selectors.ts';
import type { Check } from './check.ts';
import { checkPodSpec } from './podSpecValidation.ts';
import { TEMPLATE } from './podTemplate.ts';
import { templateLabels } from './workloads.ts';

const CONTROLLER_UID = 'batch.kubernetes.io/controller-uid';
const JOB_DEFAULTS = {
  // Completions default only together with parallelism: with parallelism alone, the job is a work queue.
  completions: ({ parallelism }: Fields) => (parallelism === undefined ? 1 : undefined),
  parallelism: 1,
  completionMode: 'NonIndexed',
  suspend: false,
  manualSelector: false,
  backoffLimit: 6,
  podReplacementPolicy: 'TerminatingOrFailed',
  template: TEMPLATE,
};
const JOB_NUMBERS = ['parallelism', 'completions', 'activeDeadlineSeconds', 'backoffLimit', 'ttlSecondsAfterFinished'];
const JOB_FIXED = ['completions', 'selector', 'template', 'completionMode', 'podFailurePolicy'];

const specOf = (draft: ApiObject): Fields => ensureFields(draft, 'spec');

export const jobStrategy: Strategy = {
  tracksGeneration: true,
  defaults: { spec: always(JOB_DEFAULTS) },
  applyDefaults(draft) {
    for (const rule of listAt(draft, 'spec', 'podFailurePolicy', 'rules')) {
      for (const pattern of listAt(rule, 'onPodConditions')) {
        if (isFields(pattern) && (pattern['status'] ?? '') === '') pattern['status'] = 'True';
      }
    }
    const labels = templateLabels(draft);
    // Shares the object, so that labels added to the template in prepareCreate are the job's too.
    if (Object.keys(labels).length > 0 && draft.metadata.labels === undefined) draft.metadata.labels = labels;
  },
  prepareCreate(draft) {
    const job = specOf(draft);
    if (job['manualSelector'] === true) return;
    // The selector contains the job's uid, so that it matches no pods of other jobs.
    const { uid, name } = draft.metadata;
    const labels = ensureFields(ensureFields(ensureFields(job, 'template'), 'metadata'), 'labels');
    const own = { [CONTROLLER_UID]: uid, 'batch.kubernetes.io/job-name': name };
    setDefaults(labels, { ...own, 'controller-uid': uid, 'job-name': name });
    if (Object.keys(draft.metadata.labels ?? {}).length === 0) draft.metadata.labels = labels as Record<string, string>;
    const matchLabels = { ...fieldsAt(job, 'selector', 'matchLabels'), [CONTROLLER_UID]: uid };
    job['selector'] = { ...fieldsAt(job, 'selector'), matchLabels };
  },
  validate(check, draft, old) {
    const spec = check.at('spec');
    const selector = spec.get('selector');
    const own = { matchLabels: { [CONTROLLER_UID]: draft.metadata.uid } };
    if (old === undefined && spec.get('manualSelector') !== true && !sameJson(selector, own)) {
      spec.invalid('selector', selector, '`selector` not auto-generated');
      const labels = templateLabels(draft);
      if (!labelSelectorPredicate(selector)(labels)) {
        spec.invalid('template.metadata.labels', labels, '`selector` does not match template `labels`');
      }
    }
    checkJobSpec(spec);
    if (old === undefined) return;
    const changeable = new Set([
      ...(spec.text('completionMode') === 'Indexed' ? ['completions'] : []),
      ...(fieldsAt(old, 'spec')?.['suspend'] === true ? ['template'] : []),
    ]);
    const fixed = JOB_FIXED.filter((field) => !changeable.has(field));
    spec.fixed(old['spec'], fixed);
  },
};

function checkJobSpec(job: Check): void {
  job.notNegative(...JOB_NUMBERS);
  if (job.get('completionMode') === 'Indexed' && job.get('completions') === undefined) {
    job.missing('completions', 'when completion mode is Indexed');
  }
  const pod = job.at('template', 'spec');
  checkPodSpec(pod);
  if (pod.get('restartPolicy') !== 'OnFailure' && pod.get('restartPolicy') !== 'Never') {
    pod.missing('restartPolicy', 'valid values: "OnFailure", "Never"');
  }
}

const CONCURRENCY = ['Allow', 'Forbid', 'Replace'];
const CRON_FIELDS = 5;

export const cronJobStrategy: Strategy = {
  tracksGeneration: true,
  defaults: {
    spec: always({
      concurrencyPolicy: 'Allow',
      suspend: false,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
      jobTemplate: given({ spec: given({ template: TEMPLATE }) }),
    }),
  },
  validate(check) {
    const spec = check.at('spec');
    const schedule = spec.require('schedule');
    const fields = schedule.trim().split(/\s+/);
    if (schedule !== '' && !schedule.startsWith('@') && fields.length !== CRON_FIELDS) {
      const why = `expected exactly ${CRON_FIELDS} fields, found ${fields.length}: [${fields.join(' ')}]`;
      spec.invalid('schedule', schedule, why);
    }
    const zone = spec.get('timeZone');
    if (typeof zone === 'string' && !isTimeZone(zone)) spec.invalid('timeZone', zone, `unknown time zone ${zone}`);
    spec.oneOf('concurrencyPolicy', CONCURRENCY);
    checkJobSpec(spec.at('jobTemplate', 'spec'));
  },
};

function isTimeZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== '';
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
