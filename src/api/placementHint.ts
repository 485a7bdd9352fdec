/**
 * A placement hint is a `status.nominatedNodeName` written by us: where a plan expects the pod to run. The scheduler
 * uses the same field for pods that preempt others; the field's manager tells who wrote it, also after a restart.
 */
import type { Pod } from './kinds.ts';
import { FieldManagers } from './labels.ts';
import type { ManagedFieldsEntry } from './object.ts';

/** The managed fields that an informer keeps for a pod with a hint. */
export const HINT_ENTRIES: readonly ManagedFieldsEntry[] = Object.freeze([
  Object.freeze({
    manager: FieldManagers.placementHints,
    operation: 'Update',
    subresource: 'status',
    fieldsV1: Object.freeze({ 'f:status': Object.freeze({ 'f:nominatedNodeName': Object.freeze({}) }) }),
  }),
]);

/** The node in the pod's current hint, according to the API server. */
export function hintedNode({ metadata, status }: Pod): string | undefined {
  const node = status?.nominatedNodeName;
  if (!node) return undefined;
  return (metadata.managedFields ?? []).some(isHint) ? node : undefined;
}

/** The node on which the scheduler preempts other pods for this pod. */
export function preemptedNode(pod: Pod): string | undefined {
  return hintedNode(pod) === undefined ? pod.status?.nominatedNodeName || undefined : undefined;
}

function isHint({ manager, fieldsV1 }: ManagedFieldsEntry): boolean {
  if (manager !== FieldManagers.placementHints) return false;
  const { 'f:status': status } = (fieldsV1 ?? {}) as { readonly 'f:status'?: Readonly<Record<string, unknown>> };
  return status?.['f:nominatedNodeName'] !== undefined;
}
