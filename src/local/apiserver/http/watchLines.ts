/** Renders the events of a watch, one JSON line each, in the representation that the client accepts. */
import { KubeError } from '../../../kube/errors.ts';
import type { ApiObject } from '../fields.ts';
import { apiVersionOf } from '../../../api/object.ts';
import type { Resource } from '../resource.ts';
import { objectText } from '../serialise.ts';
import type { ServedEvent } from '../watch.ts';
import type { Accepted } from './accept.ts';
import { partialMetadata, renderTable, type IncludeObject } from './table.ts';

const INITIAL_EVENTS_END = { 'k8s.io/initial-events-end': 'true' };

export async function* watchLines(
  events: AsyncIterable<ServedEvent>,
  resource: Resource,
  accepted: Accepted,
  include: IncludeObject,
  now: () => number,
): AsyncGenerator<string, void, undefined> {
  const asTable = accepted.as === 'table';
  let first = true;
  const tableText = (objects: readonly ApiObject[], resourceVersion: string): string => {
    const table = renderTable(resource, objects, { resourceVersion }, include, now());
    // Column definitions are sent only once; clients keep them.
    const shown = first ? table : { ...table, columnDefinitions: null };
    first = false;
    return JSON.stringify(shown);
  };
  const text = (object: ApiObject): string => {
    if (asTable) return tableText([object], object.metadata.resourceVersion ?? '');
    return accepted.as === 'partialMetadata' || accepted.as === 'partialMetadataList'
      ? JSON.stringify(partialMetadata(object))
      : objectText(object);
  };
  try {
    for await (const event of events) {
      if (event.type !== 'BOOKMARK') yield `{"type":"${event.type}","object":${text(event.object)}}\n`;
      else if (asTable) yield `{"type":"BOOKMARK","object":${tableText([], String(event.revision))}}\n`;
      else yield `${JSON.stringify({ type: 'BOOKMARK', object: bookmark(resource, event) })}\n`;
    }
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    yield `${JSON.stringify({ type: 'ERROR', object: error.status })}\n`;
  }
}

function bookmark(
  resource: Resource,
  event: { readonly revision: number; readonly initialEventsEnd: boolean },
): object {
  return {
    kind: resource.kind,
    apiVersion: apiVersionOf(resource),
    metadata: {
      resourceVersion: String(event.revision),
      ...(event.initialEventsEnd ? { annotations: INITIAL_EVENTS_END } : {}),
    },
  };
}
