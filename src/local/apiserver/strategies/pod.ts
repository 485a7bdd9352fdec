/** Rules for pods: defaults, priority and toleration admission, quality of service, what may change, and the grace of deletion. */
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
import { forbidden, forbiddenChange, invalidValue, type FieldError } from '../status.ts';
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
    // What priority admission decided on creation stays.
    for (const field of ['priority', 'preemptionPolicy']) spec[field] ??= fieldsAt(old, 'spec')?.[field];
  },
  validate(draft, old) {
    const spec = fieldsAt(draft, 'spec') ?? {};
    const errors = [...checkPodSpec(spec, 'spec'), ...(old === undefined ? checkGates(spec) : [])];
    if (old !== undefined) {
      const added = checkContainerLists(draft, old);
      if (added.length > 0) return [...errors, ...added];
      errors.push(...checkDeadline(draft, old), ...checkTolerationChange(draft, old));
    }
    // Gated pods may still be narrowed to fewer nodes; once the gates are gone, placement is fixed.
    const isGated = listAt(old, 'spec', 'schedulingGates').length > 0;
    const isOther = (before: ApiObject): boolean =>
      !sameJson(immutablePart(draft, isGated), immutablePart(before, isGated));
    if (old !== undefined && errors.length === 0 && isOther(old)) {
      errors.push(
        forbiddenChange(
          'spec',
          'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
        ),
      );
    }
    return errors;
  },
  gracePeriod(pod, requested) {
    const phase = textAt(pod, 'status', 'phase');
    if ((textAt(pod, 'spec', 'nodeName') ?? '') === '' || phase === 'Failed' || phase === 'Succeeded') return 0;
    return requested ?? numberAt(pod, 'spec', 'terminationGracePeriodSeconds') ?? GRACE_WHEN_UNSET;
  },
};

function checkContainerLists(draft: ApiObject, old: ApiObject): FieldError[] {
  const count = (pod: ApiObject, list: string): number => listAt(pod, 'spec', list).length;
  return ['containers', 'initContainers'].flatMap((list) =>
    count(draft, list) === count(old, list)
      ? []
      : [forbiddenChange(`spec.${list}`, 'pod updates may not add or remove containers')],
  );
}

/** A deadline may come closer. */
function checkDeadline(draft: ApiObject, old: ApiObject): FieldError[] {
  const before = numberAt(old, 'spec', 'activeDeadlineSeconds');
  const after = numberAt(draft, 'spec', 'activeDeadlineSeconds');
  const place = 'spec.activeDeadlineSeconds';
  if (before === undefined || after === before) return [];
  if (after === undefined) return [invalidValue(place, null, 'must not update from a positive integer to nil value')];
  return after > before ? [invalidValue(place, after, 'must be less than or equal to previous value')] : [];
}

/** Tolerations may be added, and the patience of existing ones changed. */
function checkTolerationChange(draft: ApiObject, old: ApiObject): FieldError[] {
  const bare = (toleration: unknown): string => {
    const { tolerationSeconds: _seconds, ...rest } = isFields(toleration) ? toleration : {};
    const members = Object.entries(rest).map(([name, value]) => `${name}=${String(value)}`);
    return members.sort().join();
  };
  const now = new Set(listAt(draft, 'spec', 'tolerations').map(bare));
  const isKept = listAt(old, 'spec', 'tolerations').every((toleration) => now.has(bare(toleration)));
  if (isKept) return [];
  const why = 'existing toleration can not be modified except its tolerationSeconds';
  return [forbiddenChange('spec.tolerations', why)];
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
  const value = numberAt(chosen, 'value') ?? 0;
  if (typeof spec['priority'] === 'number' && spec['priority'] !== value) {
    throw forbidden(
      PODS,
      pod.metadata.name,
      `the integer value of priority (${spec['priority']}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`,
    );
  }
  spec['priority'] = value;
  const policy = textAt(chosen, 'preemptionPolicy') ?? 'PreemptLowerPriority';
  const given = textAt(spec, 'preemptionPolicy');
  if (given !== undefined && given !== policy) {
    throw forbidden(
      PODS,
      pod.metadata.name,
      `the string value of PreemptionPolicy (${given}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`,
    );
  }
  setDefaults(spec, { preemptionPolicy: textAt(chosen, 'preemptionPolicy') ?? 'PreemptLowerPriority' });
}

/** Pods leave a broken node after five minutes unless they say otherwise. */
function admitTolerations(spec: Fields): void {
  const tolerations = [...listAt(spec, 'tolerations')];
  for (const key of NODE_PROBLEMS) {
    const tolerated = tolerations.some((toleration) => {
      const effect = textAt(toleration, 'effect') ?? '';
      const tolerates = textAt(toleration, 'key') ?? '';
      return (tolerates === key || tolerates === '') && (effect === 'NoExecute' || effect === '');
    });
    if (!tolerated) {
      tolerations.push({
        key,
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: EVICTION_TOLERATION_SECONDS,
      });
    }
  }
  spec['tolerations'] = tolerations;
}
