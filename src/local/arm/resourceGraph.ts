/**
 * Azure Resource Graph, as far as provisioners ask it: `Resources | where … | where …` over ids, groups, types and
 * tags. In: a query text and paging options. Out: rows in objectArray format with a skip token.
 */
import { ArmError } from './armError.ts';
import type { ArmContext } from './armContext.ts';
import { at, textAt } from './jsonPath.ts';
import type { ArmResource } from './resourceStore.ts';
import type { ArmRequest, ArmResponse, Route } from './router.ts';

type Condition = (resource: ArmResource) => boolean;

const DEFAULT_PAGE = 100;
const MAX_PAGE = 1000;
const CLAUSE = /^(\w+(?:\['[^']+'\])?)\s*(==|!=|=~|!~|contains_cs|!contains_cs|contains|!contains|has_cs|has)\s*(.+)$/;

const OPERATORS: Readonly<Record<string, (left: string, right: string) => boolean>> = {
  '==': (left, right) => left === right,
  '=~': (left, right) => left.toLowerCase() === right.toLowerCase(),
  contains_cs: (left, right) => left.includes(right),
  contains: (left, right) => left.toLowerCase().includes(right.toLowerCase()),
  has_cs: (left, right) => left.includes(right),
  has: (left, right) => left.toLowerCase().includes(right.toLowerCase()),
};
const NEGATED: Readonly<Record<string, string>> = {
  '!=': '==',
  '!~': '=~',
  '!contains_cs': 'contains_cs',
  '!contains': 'contains',
};

export class ResourceGraph {
  private readonly context: ArmContext;
  private readonly types: readonly string[];

  /** `types` are the resource types that the graph indexes. */
  constructor(context: ArmContext, types: readonly string[]) {
    this.context = context;
    this.types = types;
  }

  routes(): readonly Route[] {
    return [
      {
        name: 'resourceGraph.resources',
        method: 'POST',
        path: '/providers/Microsoft.ResourceGraph/resources',
        handle: (request) => this.query(request),
      },
    ];
  }

  private query({ body }: ArmRequest): ArmResponse {
    const format = textAt(body, 'options', 'resultFormat') ?? 'objectArray';
    if (format !== 'objectArray') throw invalid(`The result format '${format}' is not supported here.`);
    const top = at(body, 'options', '$top');
    const size = Math.min(typeof top === 'number' && top > 0 ? top : DEFAULT_PAGE, MAX_PAGE);
    const start = offsetOf(textAt(body, 'options', '$skipToken'));
    const matches = parseQuery(textAt(body, 'query') ?? '');
    const rows = this.types
      .flatMap((type) => this.context.store.list(type))
      .filter((resource) => matches.every((condition) => condition(resource)));
    const page = rows.slice(start, start + size);
    const more = start + size < rows.length;
    return {
      status: 200,
      body: {
        totalRecords: rows.length,
        count: page.length,
        data: page.map((resource) => this.row(resource)),
        facets: [],
        resultTruncated: 'false',
        ...(more ? { $skipToken: Buffer.from(`offset:${start + size}`).toString('base64') } : {}),
      },
    };
  }

  /** The graph lowers types and group names, and calls a resource without zones `null`. */
  private row(resource: ArmResource): object {
    return {
      id: resource.id,
      name: resource.name,
      type: resource.type.toLowerCase(),
      tenantId: '',
      kind: '',
      location: resource.location,
      resourceGroup: groupOf(resource),
      subscriptionId: this.context.store.subscriptionId,
      tags: resource.tags ?? null,
      zones: resource.zones ?? null,
      identity: resource.identity ?? null,
      properties: resource.properties,
    };
  }
}

function groupOf(resource: ArmResource): string {
  return (resource.id.split('/')[4] ?? '').toLowerCase();
}

function offsetOf(skipToken: string | undefined): number {
  if (skipToken === undefined) return 0;
  const offset = /^offset:(\d+)$/.exec(Buffer.from(skipToken, 'base64').toString('utf8'))?.[1];
  if (offset === undefined) throw invalid('The skip token is not one that was issued here.');
  return Number(offset);
}

/** `Resources | where a == "x" and b contains_cs "y" | where …`; an `or` joins the conditions of one `where`. */
function parseQuery(query: string): readonly Condition[] {
  const [table = '', ...stages] = query.split('|').map((part) => part.trim());
  if (table.toLowerCase() !== 'resources') throw invalid(`The table '${table}' is not known here.`);
  return stages
    .filter((stage) => stage !== '')
    .map((stage) => {
      const text = /^where\s+(.+)$/is.exec(stage)?.[1];
      if (text === undefined) throw invalid(`The stage '${stage}' is not supported here.`);
      const alternatives = text.split(/\s+or\s+/i).map((group) => group.split(/\s+and\s+/i).map(parseClause));
      return (resource) => alternatives.some((clauses) => clauses.every((clause) => clause(resource)));
    });
}

function parseClause(clause: string): Condition {
  const [, field = '', operator = '', operand = ''] = CLAUSE.exec(clause.trim()) ?? [];
  const expected = operandOf(operand);
  const negated = NEGATED[operator];
  const compare = OPERATORS[negated ?? operator];
  if (compare === undefined || expected === undefined)
    throw invalid(`The condition '${clause}' is not supported here.`);
  return (resource) => compare(valueOf(resource, field), expected) === (negated === undefined);
}

/** A quoted text, or `tolower("…")` of one. */
function operandOf(text: string): string | undefined {
  const match = /^(tolower\()?\s*(?:"([^"]*)"|'([^']*)')\s*\)?$/i.exec(text.trim());
  if (match === null) return undefined;
  const value = match[2] ?? match[3] ?? '';
  return match[1] === undefined ? value : value.toLowerCase();
}

function valueOf(resource: ArmResource, field: string): string {
  const tag = /^tags\['([^']+)'\]$/.exec(field)?.[1];
  if (tag !== undefined) return resource.tags?.[tag] ?? '';
  switch (field) {
    case 'id':
      return resource.id;
    case 'name':
      return resource.name;
    case 'type':
      return resource.type.toLowerCase();
    case 'location':
      return resource.location ?? '';
    case 'resourceGroup':
      return groupOf(resource);
    case 'tags':
      return JSON.stringify(resource.tags ?? {});
    default:
      throw invalid(`The column '${field}' is not known here.`);
  }
}

function invalid(message: string): ArmError {
  return new ArmError(400, 'BadRequest', `The query is invalid. ${message}`);
}
