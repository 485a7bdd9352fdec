/** Reads manifests into the input of a plan. Errors in one object do not prevent reading the others. */
import type { Deployment, Pod, PodDisruptionBudget } from '../api/kinds.ts';
import type { AksNodeClass } from '../api/kinds/aksNodeClass.ts';
import type { NodePool } from '../api/kinds/nodePool.ts';
import { Groups } from '../api/labels.ts';
import { renderCrds } from '../api/crds.ts';
import { validateNodePool } from '../api/nodePoolValidation.ts';
import { applyDefaults, prune } from '../api/schema/defaulting.ts';
import { fieldErrorText, type FieldError } from '../api/schema/fieldError.ts';
import { settleNumbers } from '../api/schema/json.ts';
import type { StructuralSchema } from '../api/schema/structuralSchema.ts';
import { validate } from '../api/schema/validate.ts';
import type { PlanNote } from '../ledger/planNote.ts';
import { boundsOf, type RolloutBounds } from '../pods/rolloutBounds.ts';
import { AUTOSCALER, Autoscalers } from './autoscalers.ts';
import { isBuiltIn } from './builtInKinds.ts';
import { parseManifests, type Manifest, type Mistake } from './manifestDocuments.ts';
import { Owners } from './owners.ts';
import { DAEMON_SET, isWorkload, readWorkload } from './workloads.ts';
import { byPreference } from '../solver/byPreference.ts';

/** More pods than any cluster has; protects the memory from a typo in `replicas`. */
const MAX_PODS = 200_000;

export interface PlanInput {
  readonly pods: readonly Pod[];
  /** The owners of the pods, with the names of their entries in `pods`. */
  readonly workloads: readonly PlannedWorkload[];
  readonly podBudgets: readonly PodDisruptionBudget[];
  readonly daemons: readonly Pod[];
  readonly pools: readonly NodePool[];
  readonly classes: readonly AksNodeClass[];
  /** Labels by name. */
  readonly namespaces: ReadonlyMap<string, Readonly<Record<string, string>>>;
  readonly mistakes: readonly Mistake[];
  /** Valid objects that were ignored because a plan does not use their kind. */
  readonly warnings: readonly Mistake[];
  /** Assumptions that the reader should know. */
  readonly notes: readonly PlanNote[];
}

interface PlannedWorkload {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly pods: readonly string[];
  /** How its pods are replaced when its template changes; absent when they are not. */
  readonly rollout?: RolloutBounds;
}

export interface ManifestText {
  /** Source named in mistakes. */
  readonly source: string;
  readonly text: string;
}

export function readManifests(texts: readonly ManifestText[]): PlanInput {
  const reader = new ManifestReader();
  const parsed = texts.map(({ source, text }) => parseManifests(source, text));
  // Autoscalers and owners may be in any file, before or after their objects.
  for (const { manifests } of parsed) for (const manifest of manifests) reader.prepare(manifest);
  for (const { manifests, mistakes } of parsed) {
    reader.mistakes.push(...mistakes);
    for (const manifest of manifests) reader.read(manifest);
    reader.mistakes.sort((left, right) => (left.source === right.source ? left.line - right.line : 0));
  }
  return reader.input();
}

/** `apps/Deployment`, `/Pod`. */
function groupKindOf({ apiVersion, kind }: Manifest): string {
  const slash = apiVersion.indexOf('/');
  return `${slash < 0 ? '' : apiVersion.slice(0, slash)}/${kind}`;
}

const NODE_POOL = `${Groups.karpenter}/NodePool`;
const NODE_CLASS = `${Groups.azure}/AKSNodeClass`;
const BUILT_IN_PRIORITIES: readonly (readonly [string, number])[] = [
  ['system-node-critical', 2_000_001_000],
  ['system-cluster-critical', 2_000_000_000],
];

class ManifestReader {
  readonly mistakes: Mistake[] = [];
  private readonly warnings: Mistake[] = [];
  private readonly owners = new Owners();
  private readonly pods: Pod[] = [];
  private readonly workloads: PlannedWorkload[] = [];
  private readonly podBudgets: PodDisruptionBudget[] = [];
  private readonly daemons: Pod[] = [];
  private readonly pools: NodePool[] = [];
  private readonly classes: AksNodeClass[] = [];
  private readonly namespaces = new Map<string, Readonly<Record<string, string>>>();
  private readonly priorities = new Map<string, number>(BUILT_IN_PRIORITIES);
  private defaultPriority = 0;
  private readonly seen = new Map<string, Manifest>();
  private readonly podNames = new Set<string>();
  private readonly autoscalers = new Autoscalers();
  private readonly autoscalerMistakes = new Map<Manifest, readonly Mistake[]>();
  /** By apiVersion and kind; filled on first use. */
  private readonly schemas = new Map<string, StructuralSchema>();

  prepare(manifest: Manifest): void {
    this.owners.add(manifest);
    if (groupKindOf(manifest) !== AUTOSCALER) return;
    this.autoscalerMistakes.set(manifest, this.autoscalers.read(manifest));
  }

  read(manifest: Manifest): void {
    const groupKind = groupKindOf(manifest);
    const { kind, apiVersion, metadata } = manifest;
    if (isKustomization(manifest)) {
      this.warnings.push(manifest.mistake('', 'KustomizationLeftOut', {}));
    } else if (kind === '' || apiVersion === '') {
      this.mistakes.push(manifest.mistake('', 'KindMissing', {}));
    } else if (this.isRepeated(groupKind, manifest)) {
      const { source, line } = this.seen.get(this.keyOf(groupKind, manifest)) ?? manifest;
      this.mistakes.push(manifest.mistake('metadata.name', 'Repeated', { source, line }));
    } else if (isWorkload(groupKind)) this.readPods(groupKind, manifest);
    else if (groupKind === NODE_POOL) this.readPool(manifest);
    else if (groupKind === NODE_CLASS) this.readClass(manifest);
    else if (groupKind === AUTOSCALER) this.mistakes.push(...(this.autoscalerMistakes.get(manifest) ?? []));
    else if (groupKind === '/Namespace') {
      this.namespaces.set(manifest.name ?? '', textMap(metadata['labels']));
    } else if (groupKind === 'scheduling.k8s.io/PriorityClass') this.readPriority(manifest);
    else if (groupKind === 'policy/PodDisruptionBudget') this.readBudget(manifest);
    else if (!isBuiltIn(groupKind)) {
      this.warnings.push(manifest.mistake('kind', 'KindLeftOut', { kind, apiVersion }));
    }
  }

  input(): PlanInput {
    const { mistakes, warnings, pools, classes, namespaces } = this;
    const withPriority = (pod: Pod): Pod => {
      const name = pod.spec?.priorityClassName;
      const priority = pod.spec?.priority ?? (name === undefined ? this.defaultPriority : this.priorities.get(name));
      return priority === undefined || priority === 0 || pod.spec === undefined
        ? pod
        : { ...pod, spec: { ...pod.spec, priority } };
    };
    return {
      pods: this.pods.map(withPriority),
      workloads: this.workloads,
      podBudgets: this.podBudgets,
      daemons: this.daemons.map(withPriority),
      pools: pools.toSorted(byPreference),
      classes,
      namespaces,
      mistakes,
      warnings,
      notes: [...this.owners.notes(), ...this.autoscalers.notes()],
    };
  }

  private readPods(groupKind: string, manifest: Manifest): void {
    const workload = readWorkload(groupKind, manifest);
    if (!('pod' in workload)) {
      this.mistakes.push(...workload);
      return;
    }
    const { name, namespace, pod } = workload;
    const place = this.owners.placeOf(manifest);
    if (place === 'owner') return;
    if (groupKind === DAEMON_SET || place === 'daemon') {
      this.daemons.push(pod(name));
      return;
    }
    const count = this.autoscalers.replicasOf(manifest.kind, namespace, name, workload.count);
    if (this.pods.length + count > MAX_PODS) {
      this.mistakes.push(manifest.mistake('spec.replicas', 'TooManyPods', { count, limit: MAX_PODS }));
      return;
    }
    if (groupKind === '/Pod') {
      if (count > 0) this.pods.push(pod(name));
      return;
    }
    // A Deployment and a StatefulSet may share a name; their pods may not.
    const taken = count > 0 && this.podNames.has(`${namespace}/${name}-0`);
    const prefix = taken ? `${name}-${manifest.kind.toLowerCase()}` : name;
    const names = Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
    for (const each of names) {
      this.podNames.add(`${namespace}/${each}`);
      this.pods.push(pod(each));
    }
    const rollout = rolloutOf(manifest, count);
    this.workloads.push({ kind: manifest.kind, namespace, name, pods: names, ...(rollout && { rollout }) });
  }

  private readPool(manifest: Manifest): void {
    const pool = this.readCustom<NodePool>(manifest);
    if (pool === undefined) return;
    const errors = validateNodePool(pool);
    this.refuse(manifest, errors);
    const { group, kind } = pool.spec.template.spec.nodeClassRef;
    if (group !== Groups.azure || kind !== 'AKSNodeClass') {
      const field = 'spec.template.spec.nodeClassRef';
      this.mistakes.push(manifest.mistake(field, 'ForeignNodeClass', { nodeClass: `${kind}.${group}` }));
    } else if (errors.length === 0) this.pools.push(pool);
  }

  private readClass(manifest: Manifest): void {
    const nodeClass = this.readCustom<AksNodeClass>(manifest);
    if (nodeClass !== undefined) this.classes.push(nodeClass);
  }

  /** As in the API server: drops unknown fields, applies defaults, then validates. */
  private readCustom<T>(manifest: Manifest): T | undefined {
    if (manifest.name === undefined) {
      this.mistakes.push(manifest.mistake('metadata.name', 'FieldRequired', {}));
      return undefined;
    }
    const schema = this.schemaOf(manifest);
    if (schema === undefined) {
      const { apiVersion } = manifest;
      this.mistakes.push(manifest.mistake('apiVersion', 'NoSuchVersion', { apiVersion }));
      return undefined;
    }
    const object = applyDefaults(schema, prune(schema, manifest.object));
    const errors = validate(schema, object).filter(({ field }) => field !== '<nil>');
    this.refuse(manifest, errors);
    return errors.length > 0 ? undefined : (settleNumbers(object) as T);
  }

  private schemaOf({ apiVersion, kind }: Manifest): StructuralSchema | undefined {
    const key = `${apiVersion}/${kind}`;
    const known = this.schemas.get(key);
    if (known !== undefined || this.schemas.size > 0) return known;
    for (const { spec } of renderCrds()) {
      for (const { name, schema } of spec.versions) {
        // The published schema type is wider than ours.
        const json = schema?.openAPIV3Schema as StructuralSchema | undefined;
        if (json !== undefined) this.schemas.set(`${spec.group}/${name}/${spec.names.kind}`, json);
      }
    }
    return this.schemas.get(key);
  }

  private readBudget({ name, namespace = 'default', object }: Manifest): void {
    const { spec } = object as { readonly spec?: PodDisruptionBudget['spec'] };
    if (name !== undefined && spec !== undefined) this.podBudgets.push({ metadata: { name, namespace }, spec });
  }

  private readPriority(manifest: Manifest): void {
    const { value, globalDefault } = manifest.object;
    if (typeof value !== 'number') {
      this.mistakes.push(manifest.mistake('value', 'FieldRequired', {}));
      return;
    }
    this.priorities.set(manifest.name ?? '', value);
    if (globalDefault === true) this.defaultPriority = value;
  }

  private refuse(manifest: Manifest, errors: readonly FieldError[]): void {
    for (const error of errors) {
      this.mistakes.push(manifest.mistake(error.field, 'FieldRefused', { problem: fieldErrorText(error) }));
    }
  }

  private isRepeated(groupKind: string, manifest: Manifest): boolean {
    if (manifest.name === undefined) return false;
    const key = this.keyOf(groupKind, manifest);
    if (this.seen.has(key)) return true;
    this.seen.set(key, manifest);
    return false;
  }

  private keyOf(groupKind: string, { namespace = 'default', name = '' }: Manifest): string {
    return `${groupKind} ${namespace}/${name}`;
  }
}

/** A StatefulSet has no surge: a pod is deleted before its replacement is created. */
function rolloutOf({ kind, object }: Manifest, replicas: number): RolloutBounds | undefined {
  if (kind === 'StatefulSet') return { maxSurge: 0, maxUnavailable: 1 };
  if (kind !== 'Deployment') return undefined;
  const { strategy } = (object as Pick<Deployment, 'spec'>).spec ?? {};
  return strategy?.type === 'Recreate' ? { maxSurge: 0, maxUnavailable: replicas } : boundsOf(replicas, strategy);
}

/** A kustomization.yaml may omit apiVersion and kind. */
function isKustomization({ source, kind, apiVersion }: Manifest): boolean {
  if (kind === 'Kustomization' && apiVersion.startsWith('kustomize.config.k8s.io/')) return true;
  return kind === '' && /(^|\/)kustomization(\.ya?ml)?$/i.test(source);
}

function textMap(value: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries(typeof value === 'object' && value !== null ? value : {});
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}
