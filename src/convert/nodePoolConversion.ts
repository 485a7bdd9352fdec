/** Converts NodePools of Karpenter on another cloud, or of its v1beta1 API, to Azure. */
import { Groups, isRestrictedLabel, WELL_KNOWN_LABELS } from '../api/labels.ts';
import type { RequirementLike } from '../api/requirementValidation.ts';
import { isJsonObject, type JsonObject } from '../api/schema/json.ts';
import { shown, type Note } from './change.ts';
import { cloudOfDomain } from './otherClouds.ts';
import { convertRequirement } from './requirementConversion.ts';

export interface NodePoolContext {
  readonly region: string;
  readonly note: Note;
}

export interface ConvertedPool {
  readonly pool: JsonObject;
  readonly className: string;
  /** Kubelet settings, which are in the pool in v1beta1 and in the class on Azure. */
  readonly kubelet: JsonObject | undefined;
}

/** Annotations left by Karpenter's conversion from v1beta1, and by the last writer. */
const LEFT_BEHIND =
  /^(compatibility\.karpenter\.sh|karpenter\.sh\/nodepool-hash|kubectl\.kubernetes\.io\/last-applied)/;

/** A part of the pool; a value that is not an object is reported as lost. */
function partOf(parent: JsonObject, key: string, field: string, note: Note): JsonObject {
  const value = parent[key];
  if (value !== undefined && !isJsonObject(value)) {
    note({ field, outcome: 'dropped', from: shown(value), why: 'it must have fields; correct it and convert again' });
  }
  return record(value);
}

export function convertNodePool(source: JsonObject, { region, note }: NodePoolContext): ConvertedPool {
  const spec = partOf(source, 'spec', 'spec', note);
  const template = partOf(spec, 'template', 'spec.template', note);
  const inner = partOf(template, 'spec', 'spec.template.spec', note);
  const className = textOf(record(inner['nodeClassRef'])['name']) || 'default';
  const requirements = listOf(inner['requirements']).flatMap((requirement, at) =>
    convertRequirement(requirementOf(requirement), { region, note, field: `spec.template.spec.requirements[${at}]` }),
  );
  if (inner['resources'] !== undefined) {
    note({ field: 'spec.template.spec.resources', outcome: 'dropped', from: '', why: 'v1 has no such field' });
  }
  const { labels, annotations } = templateMetadata(record(template['metadata']), note);
  const taints = taintsOf('taints', inner, note);
  const startupTaints = taintsOf('startupTaints', inner, note);
  const disruption = partOf(spec, 'disruption', 'spec.disruption', note);
  const expireAfter = inner['expireAfter'] ?? disruption['expireAfter'];
  const hasMetadata = Object.keys({ ...labels, ...annotations }).length > 0;
  const pool: JsonObject = {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: metadataOf(source),
    spec: {
      ...only(spec, ['weight', 'replicas']),
      ...limitsOf(spec, note),
      disruption: disruptionOf(disruption),
      template: {
        ...(hasMetadata && { metadata: { ...present({ labels }), ...present({ annotations }) } }),
        spec: {
          nodeClassRef: { group: Groups.azure, kind: 'AKSNodeClass', name: className },
          requirements: merged(requirements),
          ...(taints.length > 0 && { taints }),
          ...(startupTaints.length > 0 && { startupTaints }),
          ...(expireAfter !== undefined && { expireAfter }),
          ...only(inner, ['terminationGracePeriod']),
        },
      },
    },
  };
  return { pool, className, kubelet: isJsonObject(inner['kubelet']) ? inner['kubelet'] : undefined };
}

/** Name and user-written metadata, without fields added by a server. */
export function metadataOf(source: JsonObject): JsonObject {
  const metadata = record(source['metadata']);
  const annotations = Object.entries(record(metadata['annotations'])).filter(([key]) => !LEFT_BEHIND.test(key));
  return {
    name: textOf(metadata['name']),
    ...present({ labels: record(metadata['labels']) }),
    ...present({ annotations: Object.fromEntries(annotations) }),
  };
}

function templateMetadata(
  metadata: JsonObject,
  note: Note,
): { readonly labels: JsonObject; readonly annotations: JsonObject } {
  const labels = Object.entries(record(metadata['labels'])).filter(([key, value]) => {
    const domain = key.split('/')[0] ?? '';
    const isKept = !isRestrictedLabel(key) && cloudOfDomain(domain) === undefined;
    if (!isKept) {
      const field = `spec.template.metadata.labels[${key}]`;
      note({ field, outcome: 'dropped', from: shown(value), why: 'nodes on Azure cannot carry this label' });
    }
    return isKept;
  });
  return { labels: Object.fromEntries(labels), annotations: record(metadata['annotations']) };
}

function taintsOf(name: 'taints' | 'startupTaints', inner: JsonObject, note: Note): unknown[] {
  return listOf(inner[name]).filter((taint, at) => {
    const key = textOf(record(taint)['key']);
    const domain = key.split('/')[0] ?? '';
    const isForeign = cloudOfDomain(domain) !== undefined || /\.(aws|amazonaws)\.com$/.test(domain);
    if (isForeign) {
      const field = `spec.template.spec.${name}[${at}]`;
      note({ field, outcome: 'dropped', from: key, why: 'nothing on Azure would lift or tolerate this taint' });
    }
    return !isForeign;
  });
}

/** v1beta1 has WhenUnderutilized, without a wait. */
function disruptionOf(disruption: JsonObject): JsonObject {
  const policy = disruption['consolidationPolicy'];
  return {
    ...(policy !== undefined && {
      consolidationPolicy: policy === 'WhenUnderutilized' ? 'WhenEmptyOrUnderutilized' : policy,
    }),
    consolidateAfter: disruption['consolidateAfter'] ?? '0s',
    ...only(disruption, ['budgets']),
  };
}

function limitsOf(spec: JsonObject, note: Note): JsonObject {
  const entries = Object.entries(record(spec['limits'])).filter(([name]) => {
    const isForeign = /\.(aws|amazonaws)\.com\//.test(name);
    if (isForeign) {
      note({ field: `spec.limits[${name}]`, outcome: 'dropped', from: '', why: 'Azure has no such resource' });
    }
    return !isForeign;
  });
  return present({ limits: Object.fromEntries(entries) });
}

/** A key may occur twice; identical requirements are merged. */
function merged(requirements: readonly RequirementLike[]): RequirementLike[] {
  const seen = new Set<string>();
  return requirements.filter((requirement) => {
    const text = JSON.stringify([requirement.key, requirement.operator, requirement.values]);
    return !seen.has(text) && seen.add(text);
  });
}

function requirementOf(value: unknown): RequirementLike {
  const { key, operator, values, minValues } = record(value);
  return {
    key: textOf(key),
    operator: textOf(operator),
    ...(values !== undefined && {
      values: listOf(values).map((each) => (typeof each === 'string' ? each : shown(each))),
    }),
    ...(typeof minValues === 'number' && { minValues }),
  };
}

/** Labels of other clouds' instances in the selectors of a workload. */
export function foreignLabels(object: unknown, path = ''): string[] {
  if (Array.isArray(object)) return object.flatMap((item, at) => foreignLabels(item, `${path}[${at}]`));
  if (!isJsonObject(object)) return [];
  return Object.entries(object).flatMap(([name, value]) => {
    const field = path === '' ? name : `${path}.${name}`;
    const key = name === 'key' ? textOf(value) : name;
    const isForeign =
      key.includes('/') && !WELL_KNOWN_LABELS.has(key) && cloudOfDomain(key.split('/')[0] ?? '') !== undefined;
    return [...(isForeign ? [`${path}: ${key}`] : []), ...foreignLabels(value, field)];
  });
}

export function record(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function only(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.filter((name) => object[name] !== undefined).map((name) => [name, object[name]]));
}

/** Removes fields that are empty objects. */
export function present(object: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(object).filter(([, value]) => isJsonObject(value) && Object.keys(value).length > 0),
  );
}
