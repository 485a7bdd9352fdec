/** The annotation with the last configuration that kubectl applied on the client side. */
import { fieldsAt, isFields, sortedJson, type ApiObject, type Fields } from '../fields.ts';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Returns the last configuration that `manager` applied on the client side; undefined if the annotation is invalid. */
export function lastApplied(live: ApiObject, manager: string): Fields | undefined {
  const text = manager === 'kubectl' ? live.metadata.annotations?.[LAST_APPLIED] : undefined;
  if (text === undefined) return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    return isFields(parsed) ? parsed : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Updates the annotation after kubectl's server-side apply, in case that kubectl returns to client-side apply. */
export function keepLastApplied(draft: ApiObject, configuration: Fields, manager: string): void {
  const { annotations } = draft.metadata;
  if (manager !== 'kubectl' || annotations?.[LAST_APPLIED] === undefined) return;
  const { annotations: given, ...metadata } = fieldsAt(configuration, 'metadata') ?? {};
  const { [LAST_APPLIED]: _last, ...others } = isFields(given) ? given : {};
  const rest = Object.keys(others).length === 0 ? {} : { annotations: others };
  const text = JSON.stringify(sortedJson({ ...configuration, metadata: { ...metadata, ...rest } }));
  draft.metadata.annotations = { ...annotations, [LAST_APPLIED]: `${text}\n` };
}
