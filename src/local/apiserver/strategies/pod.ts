/** Rules for pods: defaults, priority and toleration admission, quality of service, what may change, and the grace of deletion. */
import { Quantity } from '../../../units/quantity.ts';
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
import { forbidden, forbiddenChange, required, type FieldError } from '../status.ts';
import { defaultPodSpec } from './podTemplate.ts';

const PODS = { group: '', plural: 'pods' };
const EVICTION_TOLERATION_SECONDS = 300;
const NODE_PROBLEMS = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];
const GRACE_WHEN_UNSET = 30;

export const podStrategy: Strategy = {
  tracksGeneration: true,
  applyDefaults(draft) {
    const spec = ensureFields(draft, 'spec');
    defaultPodSpec(spec);
    setDefaults(spec, { enableServiceLinks: true });
  },
  prepareCreate(draft, context) {
    const spec = ensureFields(draft, 'spec');
    admitServiceAccount(spec);
    admitPriority(draft, spec, context);
    admitTolerations(spec);
    draft['status'] = { phase: 'Pending', qosClass: qosClass(spec) };
    if (listAt(spec, 'schedulingGates').length > 0) {
      (draft['status'] as Fields)['conditions'] = [
        {
          type: 'PodScheduled',
          status: 'False',
          reason: 'SchedulingGated',
          message: 'Scheduling is blocked due to non-empty scheduling gates',
          lastProbeTime: null,
          lastTransitionTime: context.now,
        },
      ];
    }
  },
  validate(draft, old) {
    const errors: FieldError[] = [];
    const containers = listAt(draft, 'spec', 'containers');
    if (containers.length === 0) errors.push(required('spec.containers'));
    containers.forEach((container, index) => {
      if ((textAt(container, 'name') ?? '') === '') errors.push(required(`spec.containers[${index}].name`));
      if ((textAt(container, 'image') ?? '') === '') errors.push(required(`spec.containers[${index}].image`));
    });
    if (old !== undefined && !sameJson(immutablePart(draft), immutablePart(old))) {
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

function immutablePart(pod: ApiObject): Fields {
  const {
    activeDeadlineSeconds: _deadline,
    tolerations: _tolerations,
    terminationGracePeriodSeconds: _grace,
    schedulingGates: _gates,
    nodeSelector: _selector,
    affinity: _affinity,
    ...spec
  } = fieldsAt(pod, 'spec') ?? {};
  // Gated pods may still be narrowed to fewer nodes; once the gates are gone, placement is fixed.
  const gated = listAt(pod, 'spec', 'schedulingGates').length > 0;
  const placement = gated ? {} : { nodeSelector: _selector, affinity: _affinity };
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

function admitServiceAccount(spec: Fields): void {
  setDefaults(spec, { serviceAccountName: 'default' });
  spec['serviceAccount'] = spec['serviceAccountName'];
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
    if (chosen === undefined) {
      throw forbidden(PODS, pod.metadata.name, `no PriorityClass with name ${name} was found`);
    }
  }
  spec['priority'] = numberAt(chosen, 'value') ?? 0;
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

/** Guaranteed, Burstable or BestEffort, from the cpu and memory of all containers. */
function qosClass(spec: Fields): string {
  const containers = [...listAt(spec, 'initContainers'), ...listAt(spec, 'containers')];
  let anything = false;
  let guaranteed = true;
  for (const container of containers) {
    const requests = fieldsAt(container, 'resources', 'requests') ?? {};
    const limits = fieldsAt(container, 'resources', 'limits') ?? {};
    for (const name of ['cpu', 'memory']) {
      const request = amount(requests[name]);
      const limit = amount(limits[name]);
      if (request !== undefined || limit !== undefined) anything = true;
      if (limit === undefined || (request !== undefined && request !== limit)) guaranteed = false;
    }
  }
  if (!anything) return 'BestEffort';
  return guaranteed ? 'Guaranteed' : 'Burstable';
}

/** Zero counts as not given. */
function amount(value: unknown): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const text = Quantity.tryParse(value)?.toString();
  return text === '0' ? undefined : text;
}
