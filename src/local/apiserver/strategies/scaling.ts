/** Rules for PodDisruptionBudgets, PriorityClasses and HorizontalPodAutoscalers. */
import { always, given } from '../defaults.ts';
import type { Strategy } from '../resource.ts';
import type { Check } from './check.ts';
import { goStruct } from './goNames.ts';

const EVICTION_POLICIES = ['AlwaysAllow', 'IfHealthyBudget'];
const BUDGET_FIELDS = { MinAvailable: null, Selector: null, MaxUnavailable: null, UnhealthyPodEvictionPolicy: null };

export const budgetStrategy: Strategy = {
  tracksGeneration: true,
  prepareCreate(draft) {
    draft['status'] = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
  },
  validate(check) {
    const spec = check.at('spec');
    if (spec.get('minAvailable') !== undefined && spec.get('maxUnavailable') !== undefined) {
      const shown = goStruct(spec.value, BUDGET_FIELDS);
      spec.invalid('', shown, 'minAvailable and maxUnavailable cannot be both set');
    }
    for (const field of ['minAvailable', 'maxUnavailable']) {
      spec.notNegative(field);
      if (Number.parseInt(spec.text(field), 10) > 100) {
        spec.invalid(field, spec.text(field), 'must not be greater than 100%');
      }
    }
    if (spec.get('unhealthyPodEvictionPolicy') !== undefined) {
      spec.oneOf('unhealthyPodEvictionPolicy', EVICTION_POLICIES);
    }
  },
};

const SYSTEM_PRIORITIES = new Set(['system-node-critical', 'system-cluster-critical']);
const MAX_PRIORITY = 1_000_000_000;

export const priorityClassStrategy: Strategy = {
  tracksGeneration: true,
  defaults: { preemptionPolicy: 'PreemptLowerPriority', value: 0 },
  validate(check, draft, old) {
    const { name } = draft.metadata;
    if (old !== undefined) {
      if (old['value'] !== draft['value']) check.forbidden('value', 'may not be changed in an update.');
    } else if (name.startsWith('system-') && !SYSTEM_PRIORITIES.has(name)) {
      const reserved = `priority class names with 'system-' prefix are reserved for system use only`;
      check.forbidden('metadata.name', `${reserved}. error: ${name} is not a known system priority class`);
    } else if (!SYSTEM_PRIORITIES.has(name) && Number(draft['value']) > MAX_PRIORITY) {
      check.forbidden('value', `maximum allowed value of a user defined priority is ${MAX_PRIORITY}`);
    }
  },
};

const CPU_TARGET = { type: 'Utilization', averageUtilization: 80 };
const EVERYTHING = { type: 'Percent', value: 100, periodSeconds: 15 };

export const autoscalerStrategy: Strategy = {
  defaults: {
    spec: always({
      minReplicas: 1,
      metrics: [{ type: 'Resource', resource: { name: 'cpu', target: CPU_TARGET } }],
      behavior: given({
        scaleUp: always({
          stabilizationWindowSeconds: 0,
          selectPolicy: 'Max',
          policies: [{ type: 'Pods', value: 4, periodSeconds: 15 }, EVERYTHING],
        }),
        scaleDown: always({ selectPolicy: 'Max', policies: [EVERYTHING] }),
      }),
    }),
  },
  validate: checkReplicaBounds,
};

export const autoscalerVersion1Strategy: Strategy = {
  defaults: { spec: always({ minReplicas: 1, targetCPUUtilizationPercentage: CPU_TARGET.averageUtilization }) },
  validate: checkReplicaBounds,
};

function checkReplicaBounds(check: Check): void {
  const spec = check.at('spec');
  const most = spec.number('maxReplicas') ?? 0;
  if (most < 1) spec.missing('maxReplicas', 'must be set and greater than 0');
  if (most < (spec.number('minReplicas') ?? 1)) {
    spec.invalid('maxReplicas', most, 'must be greater than or equal to `minReplicas`');
  }
  const target = spec.at('scaleTargetRef');
  target.require('kind');
  target.require('name');
  if (target.text('apiVersion') === '') target.invalid('apiVersion', '', 'apiVersion must specify API group');
}
