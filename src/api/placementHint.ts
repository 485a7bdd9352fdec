/**
 * A placement hint is a `status.nominatedNodeName` of our own: where a plan expects the pod to run. The scheduler uses the
 * same field for pods that preempt others; the field's manager says what wrote it, also after a restart.
 */
import type { Pod } from './kinds.ts';
import { FieldManagers } from './labels.ts';
import type { ManagedFieldsEntry } from './object.ts';

/** What an informer keeps of the managed fields of a pod with a hint. */
export const HINT_ENTRIES: readonly ManagedFieldsEntry[] = Object.freeze([
  Object.freeze({
    manager: FieldManagers.placementHints,
    operation: 'Update',
    subresource: 'status',
    fieldsV1: Object.freeze({ 'f:status': Object.freeze({ 'f:nominatedNodeName': Object.freeze({}) }) }),
  }),
]);

/** The node that a plan of ours expects the pod on, as far as the API server has been told. */
export function hintedNode({ metadata, status }: Pod): string | undefined {
  const node = status?.nominatedNodeName;
  if (!node) return undefined;
  return (metadata.managedFields ?? []).some(isHint) ? node : undefined;
}

/** The node where the scheduler makes room for the pod by removing others. */
export function preemptedNode(pod: Pod): string | undefined {
  return hintedNode(pod) === undefined ? pod.status?.nominatedNodeName || undefined : undefined;
}

function isHint({ manager, fieldsV1 }: ManagedFieldsEntry): boolean {
  if (manager !== FieldManagers.placementHints) return false;
  const { 'f:status': status } = (fieldsV1 ?? {}) as { readonly 'f:status'?: Readonly<Record<string, unknown>> };
  return status?.['f:nominatedNodeName'] !== undefined;
}
