/**
 * Azure Resource Graph: everything in the subscription as tables that can be queried. In: a query, paging options and
 * the wanted format. Out: rows with the total, and a skip token while there are more.
 */
import type { ArmContext } from '../armContext.ts';
import { ArmError } from '../armError.ts';
import { at, listAt, textAt } from '../jsonPath.ts';
import type { ArmResource } from '../resourceStore.ts';
import type { ArmRequest, ArmResponse, Route } from '../server/router.ts';
import { KqlError, type Row } from './kqlExpression.ts';
import { runQuery, type Table } from './kqlQuery.ts';

const DEFAULT_PAGE = 100;
const MAX_PAGE = 1000;
const COLUMNS: readonly string[] = [
  'id',
  'name',
  'type',
  'tenantId',
  'kind',
  'location',
  'resourceGroup',
  'subscriptionId',
  'managedBy',
  'sku',
  'plan',
  'properties',
  'tags',
  'identity',
  'zones',
  'extendedLocation',
];

export function resourceGraphRoutes(context: ArmContext, tenantId: string): readonly Route[] {
  return [
    {
      name: 'resourceGraph.resources',
      method: 'POST',
      path: '/providers/Microsoft.ResourceGraph/resources',
      handle: (request) => answer(context, tenantId, request),
    },
  ];
}

function answer(context: ArmContext, tenantId: string, { body }: ArmRequest): ArmResponse {
  const format = textAt(body, 'options', 'resultFormat') ?? 'objectArray';
  if (format !== 'objectArray' && format !== 'table') throw invalid(`The result format '${format}' is not supported.`);
  const asked = listAt(body, 'subscriptions').map((each) => String(each).toLowerCase());
  const visible = asked.length === 0 || asked.includes(context.store.subscriptionId.toLowerCase());
  const table = query(textAt(body, 'query') ?? '', {
    resources: () => tableOf(visible ? resourceRows(context, tenantId) : []),
    resourcecontainers: () => tableOf(visible ? containerRows(context, tenantId) : []),
  });
  const top = at(body, 'options', '$top');
  const size = Math.min(typeof top === 'number' && top > 0 ? top : DEFAULT_PAGE, MAX_PAGE);
  const skip = at(body, 'options', '$skip');
  const start = offsetOf(textAt(body, 'options', '$skipToken')) ?? (typeof skip === 'number' ? skip : 0);
  const page = table.rows.slice(start, start + size);
  const more = start + size < table.rows.length;
  return {
    status: 200,
    body: {
      totalRecords: table.rows.length,
      count: page.length,
      data: format === 'table' ? asTable(page, table.columns) : page,
      facets: [],
      resultTruncated: 'false',
      ...(more ? { $skipToken: Buffer.from(`offset:${start + size}`).toString('base64') } : {}),
    },
  };
}

function query(text: string, tables: Readonly<Record<string, () => Table>>): Table {
  try {
    return runQuery(text, tables);
  } catch (error) {
    if (error instanceof KqlError) throw invalid(error.message);
    throw error;
  }
}

function tableOf(rows: readonly Row[]): Table {
  return { rows, columns: COLUMNS };
}

/** The graph knows tracked resources; children are part of their parents. It lowers types and group names. */
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

function containerRows({ store }: ArmContext, tenantId: string): readonly Row[] {
  const common = {
    tenantId,
    kind: '',
    subscriptionId: store.subscriptionId,
    managedBy: '',
    sku: null,
    plan: null,
    identity: null,
    zones: null,
    extendedLocation: null,
  };
  return [
    {
      ...common,
      id: `/subscriptions/${store.subscriptionId}`,
      name: 'nodewright local',
      type: 'microsoft.resources/subscriptions',
      location: '',
      resourceGroup: '',
      properties: { state: 'Enabled' },
      tags: store.subscriptionTags(),
    },
    ...store.allGroups().map(({ name, location, tags, provisioningState }) => ({
      ...common,
      id: store.groupId(name),
      name,
      type: 'microsoft.resources/subscriptions/resourcegroups',
      location,
      resourceGroup: name.toLowerCase(),
      properties: { provisioningState },
      tags: tags ?? null,
    })),
  ];
}

function asTable(rows: readonly Row[], columns: readonly string[]): object {
  const typeOf = (column: string): string => {
    const value = rows.map((row) => row[column]).find((each) => each !== undefined && each !== null);
    if (typeof value === 'number') return 'integer';
    if (typeof value === 'boolean') return 'boolean';
    return typeof value === 'object' ? 'object' : 'string';
  };
  return {
    columns: columns.map((name) => ({ name, type: typeOf(name) })),
    rows: rows.map((row) => columns.map((column) => row[column] ?? null)),
  };
}

function offsetOf(skipToken: string | undefined): number | undefined {
  if (skipToken === undefined || skipToken === '') return undefined;
  const offset = /^offset:(\d+)$/.exec(Buffer.from(skipToken, 'base64').toString('utf8'))?.[1];
  if (offset === undefined) throw invalid('The skip token is not one that was issued here.');
  return Number(offset);
}

function invalid(message: string): ArmError {
  return new ArmError(400, 'BadRequest', `The query is invalid. ${message}.`, {
    details: [
      {
        code: 'InvalidQuery',
        message:
          'Query is invalid. Please refer to the documentation for the Azure Resource Graph service and fix the error before retrying.',
      },
      { code: 'ParserFailure', message },
    ],
  });
}
