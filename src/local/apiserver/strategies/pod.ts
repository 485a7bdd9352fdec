/** Rules for pods: defaults, admission, quality of service, updates, and the grace period of deletions. */
import { admitPodLimits } from '../admission/limitRanges.ts';
import { admitServiceAccount } from '../admission/serviceAccount.ts';
import { admitTopologyLabels } from '../admission/topologyLabels.ts';
import {
  at,
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
import type { Strategy, StrategyContext } from '../resource.ts';
import { forbidden } from '../status.ts';
import type { Check } from './check.ts';
import { qosClass } from './podQuality.ts';
import { podResize } from './podResize.ts';
import { checkGates, checkPodSpec } from './podSpecValidation.ts';
import { POD_SPEC, requestLimits, warnAboutPodSpec } from './podTemplate.ts';

const PODS = { group: '', plural: 'pods' };
const EVICTION_TOLERATION_SECONDS = 300;
const NODE_PROBLEMS = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];
const GRACE_WHEN_UNSET = 30;

export const podStrategy: Strategy = {
  tracksGeneration: true,
  subresources: { resize: podResize },
  defaults: { spec: POD_SPEC },
  applyDefaults(draft) {
    const spec = ensureFields(draft, 'spec');
    requestLimits(spec);
    setDefaults(spec, { enableServiceLinks: true });
  },
  prepareCreate(draft, context, warn) {
    const spec = ensureFields(draft, 'spec');
    warnAboutPodSpec(spec, 'spec', warn);
    admitPodLimits(draft, context);
    admitServiceAccount(draft, spec, context);
    admitPriority(draft, spec, context);
    admitTolerations(spec);
    admitTopologyLabels(draft, context);
    draft['status'] = { phase: 'Pending', qosClass: qosClass(spec) };
    if (listAt(spec, 'schedulingGates').length > 0) {
      (draft['status'] as Fields)['conditions'] = [
        {
          type: 'PodScheduled',
          status: 'False',
          reason: 'SchedulingGated',
          message: 'Scheduling is blocked due to non-empty scheduling gates',
          lastProbeTime: null,
          lastTransitionTime: context.now(),
        },
      ];
    }
  },
  prepareUpdate(draft, old) {
    const spec = ensureFields(draft, 'spec');
    admitTolerations(spec);
    // Keeps the priority that admission computed on creation.
    for (const field of ['priority', 'preemptionPolicy']) spec[field] ??= fieldsAt(old, 'spec')?.[field];
  },
  validate(check, draft, old) {
    const spec = check.at('spec');
    checkPodSpec(spec);
    if (old === undefined) return checkGates(spec);
    if (!keepsContainers(spec, old)) return;
    checkDeadline(spec, old);
    checkTolerationChange(spec, old);
    // The placement of a pod is mutable only while it has scheduling gates.
    const isGated = listAt(old, 'spec', 'schedulingGates').length > 0;
    if (check.errors.length === 0 && !sameJson(immutablePart(draft, isGated), immutablePart(old, isGated))) {
      check.forbidden(
        'spec',
        'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
      );
    }
  },
  gracePeriod(pod, requested) {
    const phase = textAt(pod, 'status', 'phase');
    if ((textAt(pod, 'spec', 'nodeName') ?? '') === '' || phase === 'Failed' || phase === 'Succeeded') return 0;
    return requested ?? numberAt(pod, 'spec', 'terminationGracePeriodSeconds') ?? GRACE_WHEN_UNSET;
  },
};

function keepsContainers(spec: Check, old: ApiObject): boolean {
  const changed = ['containers', 'initContainers'].filter(
    (list) => spec.list(list).length !== listAt(old, 'spec', list).length,
  );
  for (const list of changed) spec.forbidden(list, 'pod updates may not add or remove containers');
  return changed.length === 0;
}

/** Deadlines may only be added or shortened. */
function checkDeadline(spec: Check, old: ApiObject): void {
  const field = 'activeDeadlineSeconds';
  const before = numberAt(old, 'spec', field);
  const after = spec.number(field);
  if (before === undefined || after === before) return;
  if (after === undefined) spec.invalid(field, null, 'must not update from a positive integer to nil value');
  else if (after > before) spec.invalid(field, after, 'must be less than or equal to previous value');
}

/** Tolerations may be added, and `tolerationSeconds` of existing ones changed. */
function checkTolerationChange(spec: Check, old: ApiObject): void {
  const bare = (toleration: unknown): string => {
    const { tolerationSeconds: _seconds, ...rest } = isFields(toleration) ? toleration : {};
    const members = Object.entries(rest).map(([name, value]) => `${name}=${String(value)}`);
    return members.sort().join();
  };
  const now = new Set(spec.list('tolerations').map(bare));
  if (listAt(old, 'spec', 'tolerations').every((toleration) => now.has(bare(toleration)))) return;
  spec.forbidden('tolerations', 'existing toleration can not be modified except its tolerationSeconds');
}

function immutablePart(pod: ApiObject, isGated: boolean): Fields {
  const {
    activeDeadlineSeconds: _deadline,
    tolerations: _tolerations,
    schedulingGates: _gates,
    nodeSelector: _selector,
    affinity: _affinity,
    ...spec
  } = fieldsAt(pod, 'spec') ?? {};
  const placement = isGated ? {} : { nodeSelector: _selector, affinity: _affinity };
  const images = (list: unknown): unknown =>
    Array.isArray(list)
      ? list.map((container: unknown) => (isFields(container) ? { ...container, image: '' } : container))
      : list;
  return {
    ...spec,
    ...placement,
    containers: images(spec['containers']),
    initContainers: images(spec['initContainers']),
  };
}

function admitPriority(pod: ApiObject, spec: Fields, context: StrategyContext): void {
  const name = textAt(spec, 'priorityClassName') ?? '';
  let chosen: ApiObject | undefined;
  if (name === '') {
    for (const candidate of context.all('scheduling.k8s.io', 'priorityclasses')) {
      if (at(candidate, 'globalDefault') !== true) continue;
      if (chosen === undefined || (numberAt(candidate, 'value') ?? 0) < (numberAt(chosen, 'value') ?? 0))
        chosen = candidate;
    }
    if (chosen !== undefined) spec['priorityClassName'] = chosen.metadata.name;
  } else {
    chosen = context.find('scheduling.k8s.io', 'priorityclasses', name);
    if (chosen === undefined) throw forbidden(PODS, pod.metadata.name, `no PriorityClass with name ${name} was found`);
  }
  const settle = (field: string, what: string, computed: unknown): void => {
    const given = spec[field] ?? computed;
    if (given !== computed) {
      const why = `must not be provided in pod spec; priority admission controller computed ${String(computed)} from the given PriorityClass name`;
      throw forbidden(PODS, pod.metadata.name, `the ${what} (${String(given)}) ${why}`);
    }
    spec[field] = computed;
  };
  settle('priority', 'integer value of priority', numberAt(chosen, 'value') ?? 0);
  const policy = textAt(chosen, 'preemptionPolicy') ?? 'PreemptLowerPriority';
  settle('preemptionPolicy', 'string value of PreemptionPolicy', policy);
}

/** Adds tolerations of unready and unreachable nodes for five minutes, unless the pod has its own. */
function admitTolerations(spec: Fields): void {
  const tolerations = [...listAt(spec, 'tolerations')];
  for (const key of NODE_PROBLEMS) {
    const tolerated = tolerations.some((toleration) => {
      const effect = textAt(toleration, 'effect') ?? '';
      const tolerates = textAt(toleration, 'key') ?? '';
      return (tolerates === key || tolerates === '') && (effect === 'NoExecute' || effect === '');
    });
    const tolerationSeconds = EVICTION_TOLERATION_SECONDS;
    if (!tolerated) tolerations.push({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds });
  }
  spec['tolerations'] = tolerations;
}
