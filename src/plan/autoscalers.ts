/** Minimum replicas set by HorizontalPodAutoscalers, with a note for each about what was planned. */
import { isJsonObject } from '../api/schema/json.ts';
import type { PlanNote } from '../ledger/planNote.ts';
import type { Manifest, Mistake } from './manifestDocuments.ts';

export const AUTOSCALER = 'autoscaling/HorizontalPodAutoscaler';

interface Autoscaler {
  readonly title: string;
  readonly target: string;
  readonly least: number;
  readonly most: number;
  /** Undefined until its target has been read. */
  planned: number | undefined;
}

export class Autoscalers {
  private readonly byTarget = new Map<string, Autoscaler>();

  /** Returns its mistakes; an autoscaler with a mistake is ignored. */
  read(manifest: Manifest): readonly Mistake[] {
    const { object, title, namespace = 'default' } = manifest;
    const spec = isJsonObject(object['spec']) ? object['spec'] : {};
    const target = isJsonObject(spec['scaleTargetRef']) ? spec['scaleTargetRef'] : {};
    const { minReplicas: least = 1, maxReplicas: most } = spec;
    if (typeof target['kind'] !== 'string' || typeof target['name'] !== 'string') {
      return [manifest.mistake('spec.scaleTargetRef', 'TargetIncomplete', {})];
    }
    if (!isCount(least)) return [manifest.mistake('spec.minReplicas', 'NotACount', { value: least, least: 0 })];
    if (most === undefined) return [manifest.mistake('spec.maxReplicas', 'FieldRequired', {})];
    if (!isCount(most) || most < 1) {
      return [manifest.mistake('spec.maxReplicas', 'NotACount', { value: most, least: 1 })];
    }
    if (most < least) return [manifest.mistake('spec.maxReplicas', 'LimitsCrossed', { least, most })];
    const key = keyOf(target['kind'], namespace, target['name']);
    // With several autoscalers for one target, the API server gives no order either: the first is used.
    if (this.byTarget.has(key)) return [];
    this.byTarget.set(key, { title, target: `${target['kind']} ${target['name']}`, least, most, planned: undefined });
    return [];
  }

  /** Replicas after applying the autoscaler. A workload with zero replicas is not scaled. */
  replicasOf(kind: string, namespace: string, name: string, own: number): number {
    const autoscaler = this.byTarget.get(keyOf(kind, namespace, name));
    if (autoscaler === undefined) return own;
    const { least, most } = autoscaler;
    const planned = own === 0 ? 0 : Math.min(most, Math.max(least, own));
    autoscaler.planned = planned;
    return planned;
  }

  notes(): PlanNote[] {
    return [...this.byTarget.values()].map(({ title: autoscaler, target, planned: replicas, most }) =>
      replicas === undefined
        ? { kind: 'autoscaler-without-target', autoscaler, target }
        : { kind: 'autoscaled', autoscaler, target, replicas, most },
    );
  }
}

function keyOf(kind: string, namespace: string, name: string): string {
  return `${kind} ${namespace}/${name}`;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
