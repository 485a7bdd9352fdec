/** Lists, with pages and continue tokens, and watches objects. */
import { KubeError } from '../../kube/errors.ts';
import type { ApiObject } from './fields.ts';
import type { Objects } from './objects.ts';
import type { Resource } from './resource.ts';
import { objectPredicate, parseFieldSelector, parseLabelSelector, type ObjectPredicate } from './selectors.ts';
import { badRequest, expiredContinue, unclassified, versionAhead } from './status.ts';
import type { Page, PageRequest, Table } from './store.ts';
import { watchTable, type ServedEvent } from './watch.ts';

export interface ReadRequest {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly limit?: number | undefined;
  readonly continue?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: string | undefined;
  readonly allowBookmarks?: boolean | undefined;
  readonly sendInitialEvents?: boolean | undefined;
  readonly timeoutSeconds?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ListPage {
  readonly items: ApiObject[];
  readonly metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number };
}

/** Revision in tokens that continue a list at the latest revision. */
const LATEST = -1;

interface ContinueToken {
  readonly revision: number;
  readonly after: string;
}

function parseRevision(text: string | undefined, watches: boolean): number | undefined {
  if (text === undefined || text === '') return undefined;
  if (!/^\d+$/.test(text)) {
    const quoted = JSON.stringify(text);
    const why = `resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: invalid syntax`;
    throw watches ? unclassified(why) : badRequest(`invalid resource version: ${why}`);
  }
  return Number(text);
}

function predicateOf(resource: Resource, request: ReadRequest): ObjectPredicate | undefined {
  return objectPredicate(
    parseLabelSelector(request.labelSelector),
    parseFieldSelector(request.fieldSelector, resource.selectable, resource.namesSelectable),
  );
}

/** Returns the predicate for stored objects: selectors apply to the served form. */
function storedPredicate(resource: Resource, matches: ObjectPredicate | undefined): ObjectPredicate | undefined {
  const { decode } = resource.storage;
  return matches === undefined || decode === undefined ? matches : (object) => matches(decode(object));
}

function encodeToken(token: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: token.revision, start: token.after })).toString(
    'base64url',
  );
}

function decodeToken(text: string): ContinueToken {
  const decoded = Buffer.from(text, 'base64url');
  try {
    const parsed = JSON.parse(decoded.toString()) as { rv?: unknown; start?: unknown };
    if (typeof parsed.rv === 'number' && typeof parsed.start === 'string') {
      return { revision: parsed.rv, after: parsed.start };
    }
  } catch {
    // The error is the same for every invalid token.
  }
  const first = (decoded[0] ?? 0).toString(16).padStart(4, '0');
  throw badRequest(
    `invalid continue token: continue key is not valid: invalid character '\\u${first}' looking for beginning of value`,
  );
}

/** Returns a page; if its revision is compacted, throws an error with a token that continues at the latest one. */
function pageOf(table: Table, request: PageRequest): Page {
  try {
    return table.page(request);
  } catch (error) {
    if (request.after === undefined || !(error instanceof KubeError) || error.code !== 410) throw error;
    throw expiredContinue(encodeToken({ revision: LATEST, after: request.after }));
  }
}

export function listObjects(objects: Objects, resource: Resource, request: ReadRequest): ListPage {
  const matches = storedPredicate(resource, predicateOf(resource, request));
  const asked = parseRevision(request.resourceVersion, false);
  const token = request.continue === undefined || request.continue === '' ? undefined : decodeToken(request.continue);
  if (token !== undefined && asked !== undefined && asked !== 0) {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  if (asked !== undefined && asked > objects.store.revision) throw versionAhead(asked, objects.store.revision);
  const exact = request.resourceVersionMatch === 'Exact' ? asked : undefined;
  const revision = token === undefined ? exact : token.revision === LATEST ? undefined : token.revision;
  const { namespace, limit } = request;
  const page = pageOf(objects.tableOf(resource), { namespace, matches, limit, after: token?.after, revision });
  const { decode } = resource.storage;
  return {
    items: decode === undefined ? page.items : page.items.map(decode),
    metadata: {
      resourceVersion: String(page.revision),
      ...(page.next === undefined ? {} : { continue: encodeToken({ revision: page.revision, after: page.next }) }),
      ...(page.next === undefined || matches !== undefined ? {} : { remainingItemCount: page.remaining }),
    },
  };
}

/** Throws on bad requests at once; the stream itself fails only with 410. */
export function watchObjects(
  objects: Objects,
  resource: Resource,
  request: ReadRequest,
): AsyncGenerator<ServedEvent, void, undefined> {
  const matches = storedPredicate(resource, predicateOf(resource, request));
  const asked = parseRevision(request.resourceVersion, true);
  const initial = request.sendInitialEvents === true;
  const fromStart = initial || ((asked === undefined || asked === 0) && request.sendInitialEvents === undefined);
  const events = watchTable(
    objects.tableOf(resource),
    {
      namespace: request.namespace,
      matches,
      after: fromStart ? undefined : (asked ?? objects.store.revision),
      sendInitialEvents: initial,
      bookmarks: request.allowBookmarks === true,
      timeoutSeconds: request.timeoutSeconds,
      signal: request.signal,
    },
    objects.clock,
    objects.store,
  );
  const { decode } = resource.storage;
  return decode === undefined ? events : decoded(events, decode);
}

async function* decoded(
  events: AsyncGenerator<ServedEvent, void, undefined>,
  decode: (object: ApiObject) => ApiObject,
): AsyncGenerator<ServedEvent, void, undefined> {
  for await (const event of events) {
    yield event.type === 'BOOKMARK' ? event : { type: event.type, object: decode(event.object) };
  }
}
