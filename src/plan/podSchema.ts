/** Schemas of the kinds that create pods, with only the fields that affect placement. */
import type { StructuralSchema } from '../api/schema/structuralSchema.ts';

const text: StructuralSchema = { type: 'string' };
const whole: StructuralSchema = { type: 'integer' };
const texts: StructuralSchema = { type: 'array', items: text };
const labels: StructuralSchema = { type: 'object', additionalProperties: text };
const anyMap: StructuralSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

function fields(properties: Readonly<Record<string, StructuralSchema>>, ...required: string[]): StructuralSchema {
  return { type: 'object', properties, ...(required.length === 0 ? {} : { required }) };
}

function listOf(items: StructuralSchema): StructuralSchema {
  return { type: 'array', items };
}

function choice(...values: string[]): StructuralSchema {
  return { type: 'string', enum: values };
}

const labelSelector = fields({
  matchLabels: labels,
  matchExpressions: listOf(
    fields({ key: text, operator: choice('In', 'NotIn', 'Exists', 'DoesNotExist'), values: texts }, 'key', 'operator'),
  ),
});

const nodeExpressions = listOf(
  fields(
    { key: text, operator: choice('In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'), values: texts },
    'key',
    'operator',
  ),
);
const nodeTerm = fields({ matchExpressions: nodeExpressions, matchFields: nodeExpressions });

const podTerm = fields(
  {
    topologyKey: text,
    labelSelector,
    namespaceSelector: labelSelector,
    namespaces: texts,
    matchLabelKeys: texts,
    mismatchLabelKeys: texts,
  },
  'topologyKey',
);
const podAffinity = fields({
  requiredDuringSchedulingIgnoredDuringExecution: listOf(podTerm),
  preferredDuringSchedulingIgnoredDuringExecution: listOf(
    fields({ weight: whole, podAffinityTerm: podTerm }, 'weight', 'podAffinityTerm'),
  ),
});

const affinity = fields({
  nodeAffinity: fields({
    requiredDuringSchedulingIgnoredDuringExecution: fields(
      { nodeSelectorTerms: listOf(nodeTerm) },
      'nodeSelectorTerms',
    ),
    preferredDuringSchedulingIgnoredDuringExecution: listOf(
      fields({ weight: whole, preference: nodeTerm }, 'weight', 'preference'),
    ),
  }),
  podAffinity,
  podAntiAffinity: podAffinity,
});

const spread = listOf(
  fields(
    {
      maxSkew: { type: 'integer', minimum: 1 },
      minDomains: { type: 'integer', minimum: 1 },
      topologyKey: text,
      whenUnsatisfiable: choice('DoNotSchedule', 'ScheduleAnyway'),
      labelSelector,
      matchLabelKeys: texts,
      nodeAffinityPolicy: choice('Honor', 'Ignore'),
      nodeTaintsPolicy: choice('Honor', 'Ignore'),
    },
    'maxSkew',
    'topologyKey',
    'whenUnsatisfiable',
  ),
);

const resources = fields({ requests: anyMap, limits: anyMap });
const containers = listOf(
  fields({
    name: text,
    restartPolicy: text,
    resources,
    ports: listOf(fields({ hostPort: whole, containerPort: whole, hostIP: text, protocol: text })),
  }),
);

const podSpec = fields(
  {
    containers,
    initContainers: containers,
    resources,
    overhead: anyMap,
    nodeSelector: labels,
    affinity,
    topologySpreadConstraints: spread,
    tolerations: listOf(
      fields({ key: text, operator: choice('Exists', 'Equal', 'Lt', 'Gt'), value: text, effect: text }),
    ),
    priority: whole,
    priorityClassName: text,
    hostNetwork: { type: 'boolean' },
    volumes: listOf(fields({ name: text })),
  },
  'containers',
);

const metadata = fields({ name: text, generateName: text, namespace: text, labels, annotations: labels });
const template = fields({ metadata, spec: podSpec }, 'spec');
const count: StructuralSchema = { type: 'integer', minimum: 0, nullable: true };

const replicated = fields({ metadata, spec: fields({ replicas: count, template }, 'template') }, 'spec');
const job = fields({ parallelism: count, completions: count, suspend: { type: 'boolean' }, template }, 'template');

export const POD_SCHEMA = fields({ metadata, spec: podSpec }, 'spec');
export const REPLICATED_SCHEMA = replicated;
export const DAEMON_SET_SCHEMA = fields({ metadata, spec: fields({ template }, 'template') }, 'spec');
export const JOB_SCHEMA = fields({ metadata, spec: job }, 'spec');
export const CRON_JOB_SCHEMA = fields(
  {
    metadata,
    spec: fields({ suspend: { type: 'boolean' }, jobTemplate: fields({ spec: job }, 'spec') }, 'jobTemplate'),
  },
  'spec',
);
