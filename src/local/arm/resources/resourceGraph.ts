/** Azure Resource Graph: the resources of the subscription as rows that can be queried, in pages. */
import type { ArmContext } from '../armContext.ts';
import { at, listAt, textAt } from '../jsonPath.ts';
import type { ArmResource } from '../resourceStore.ts';
import { ok, route, type ArmRequest, type ArmResponse, type Route } from '../server/router.ts';
import { invalidQuery, runQuery, type Row } from './kqlQuery.ts';

const DEFAULT_PAGE = 100;
const MAX_PAGE = 1000;
const COLUMNS = new Set(
  `id name type tenantId kind location resourceGroup subscriptionId managedBy sku
   plan properties tags identity zones extendedLocation`.split(/\s+/),
);

export function resourceGraphRoutes(context: ArmContext, tenantId: string): readonly Route[] {
  return [
    route('resourceGraph.resources', 'POST', '/providers/Microsoft.ResourceGraph/resources', (request) =>
      answer(context, tenantId, request),
    ),
  ];
}

function answer(context: ArmContext, tenantId: string, { body }: ArmRequest): ArmResponse {
  const asked = listAt(body, 'subscriptions').map((each) => String(each).toLowerCase());
  const visible = asked.length === 0 || asked.includes(context.store.subscriptionId.toLowerCase());
  const rows = runQuery(textAt(body, 'query') ?? '', visible ? resourceRows(context, tenantId) : [], COLUMNS);
  const top = at(body, 'options', '$top');
  const size = Math.min(typeof top === 'number' && top > 0 ? top : DEFAULT_PAGE, MAX_PAGE);
  const start = offsetOf(textAt(body, 'options', '$skipToken'));
  const page = rows.slice(start, start + size);
  const more = start + size < rows.length;
  return ok({
    totalRecords: rows.length,
    count: page.length,
    data: page,
    facets: [],
    resultTruncated: 'false',
    ...(more ? { $skipToken: Buffer.from(`offset:${start + size}`).toString('base64') } : {}),
  });
}

/** Returns a row for each tracked resource that is no child; types and group names are in lower case. */
function resourceRows(context: ArmContext, tenantId: string): readonly Row[] {
  return context.store
    .all()
    .filter(({ type, location }) => location !== undefined && type.split('/').length === 2)
    .map((resource) => rowOf(context, tenantId, resource));
}

function rowOf(context: ArmContext, tenantId: string, resource: ArmResource): Row {
  return {
    id: resource.id,
    name: resource.name,
    type: resource.type.toLowerCase(),
    tenantId,
    kind: resource.kind ?? '',
    location: resource.location,
    resourceGroup: (resource.id.split('/')[4] ?? '').toLowerCase(),
    subscriptionId: context.store.subscriptionId,
    managedBy: resource.managedBy ?? '',
    sku: resource.sku ?? null,
    plan: null,
    properties: resource.properties,
    tags: resource.tags ?? null,
    identity: resource.identity ?? null,
    zones: resource.zones ?? null,
    extendedLocation: null,
  };
}

function offsetOf(skipToken: string | undefined): number {
  if (skipToken === undefined || skipToken === '') return 0;
  const offset = /^offset:(\d+)$/.exec(Buffer.from(skipToken, 'base64').toString('utf8'))?.[1];
  if (offset === undefined) throw invalidQuery('The skip token is not one that was issued here.');
  return Number(offset);
}
