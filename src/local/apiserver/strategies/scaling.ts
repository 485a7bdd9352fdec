/** Rules for what scales and protects workloads: budgets, priorities, autoscalers. */
import { ensureFields, fieldsAt, setDefaults, textAt, type ApiObject } from '../fields.ts';
import type { Strategy } from '../resource.ts';
import { forbiddenChange, invalidValue, required, unsupportedValue, type FieldError } from '../status.ts';
import { goStruct } from './goNames.ts';

export const budgetStrategy: Strategy = {
  tracksGeneration: true,
  prepareCreate(draft) {
    draft['status'] = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
  },
  validate: checkBudget,
};

const EVICTION_POLICIES = ['AlwaysAllow', 'IfHealthyBudget'];

function checkBudget(draft: ApiObject): FieldError[] {
  const spec = fieldsAt(draft, 'spec') ?? {};
  const errors: FieldError[] = [];
  if (spec['minAvailable'] !== undefined && spec['maxUnavailable'] !== undefined) {
    const shown = goStruct(spec, {
      MinAvailable: null,
      Selector: null,
      MaxUnavailable: null,
      UnhealthyPodEvictionPolicy: null,
    });
    errors.push(invalidValue('spec', shown, 'minAvailable and maxUnavailable cannot be both set'));
  }
  for (const field of ['minAvailable', 'maxUnavailable']) {
    const value = spec[field];
    if (typeof value === 'number' && value < 0) {
      errors.push(invalidValue(`spec.${field}`, value, 'must be greater than or equal to 0'));
    }
    if (typeof value === 'string' && Number.parseInt(value, 10) > 100) {
      errors.push(invalidValue(`spec.${field}`, value, 'must not be greater than 100%'));
    }
  }
  const policy = textAt(spec, 'unhealthyPodEvictionPolicy');
  if (policy !== undefined && !EVICTION_POLICIES.includes(policy)) {
    errors.push(unsupportedValue('spec.unhealthyPodEvictionPolicy', policy, EVICTION_POLICIES));
  }
  return errors;
}

export const priorityClassStrategy: Strategy = {
  tracksGeneration: true,
  applyDefaults(draft) {
    setDefaults(draft, { preemptionPolicy: 'PreemptLowerPriority', value: 0 });
  },
  validate(draft, old) {
    if (old !== undefined) {
      return old['value'] === draft['value'] ? [] : [forbiddenChange('value', 'may not be changed in an update.')];
    }
    const { name } = draft.metadata;
    if (SYSTEM_PRIORITIES.has(name)) return [];
    if (name.startsWith('system-')) {
      const why = `priority class names with 'system-' prefix are reserved for system use only. error: ${name} is not a known system priority class`;
      return [forbiddenChange('metadata.name', why)];
    }
    return Number(draft['value']) > MAX_PRIORITY
      ? [forbiddenChange('value', `maximum allowed value of a user defined priority is ${MAX_PRIORITY}`)]
      : [];
  },
};

const SYSTEM_PRIORITIES = new Set(['system-node-critical', 'system-cluster-critical']);
const MAX_PRIORITY = 1_000_000_000;

const CPU_TARGET = 80;

export const autoscalerStrategy: Strategy = {
  applyDefaults(draft) {
    const spec = ensureFields(draft, 'spec');
    setDefaults(spec, {
      minReplicas: 1,
      metrics: [
        {
          type: 'Resource',
          resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: CPU_TARGET } },
        },
      ],
    });
    const behavior = fieldsAt(spec, 'behavior');
    if (behavior === undefined) return;
    setDefaults(ensureFields(behavior, 'scaleUp'), {
      stabilizationWindowSeconds: 0,
      selectPolicy: 'Max',
      policies: [
        { type: 'Pods', value: 4, periodSeconds: 15 },
        { type: 'Percent', value: 100, periodSeconds: 15 },
      ],
    });
    setDefaults(ensureFields(behavior, 'scaleDown'), {
      selectPolicy: 'Max',
      policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
    });
  },
  validate: checkReplicaBounds,
};

export const autoscalerVersion1Strategy: Strategy = {
  applyDefaults(draft) {
    setDefaults(ensureFields(draft, 'spec'), { minReplicas: 1, targetCPUUtilizationPercentage: CPU_TARGET });
  },
  validate: checkReplicaBounds,
};

function checkReplicaBounds(draft: ApiObject): FieldError[] {
  const spec = fieldsAt(draft, 'spec') ?? {};
  const errors: FieldError[] = [];
  const least = Number(spec['minReplicas'] ?? 1);
  const most = Number(spec['maxReplicas'] ?? 0);
  if (most < 1) errors.push(required('spec.maxReplicas', 'must be set and greater than 0'));
  if (most < least) {
    errors.push(invalidValue('spec.maxReplicas', most, 'must be greater than or equal to `minReplicas`'));
  }
  for (const field of ['kind', 'name']) {
    if ((textAt(spec, 'scaleTargetRef', field) ?? '') === '') errors.push(required(`spec.scaleTargetRef.${field}`));
  }
  const version = textAt(spec, 'scaleTargetRef', 'apiVersion') ?? '';
  if (version === '') {
    errors.push(invalidValue('spec.scaleTargetRef.apiVersion', version, 'apiVersion must specify API group'));
  }
  return errors;
}
