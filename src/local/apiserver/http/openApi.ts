/**
 * `/openapi/v3`: the index, and for each group version a document with the schemas of its kinds and the paths in which
 * `kubectl` looks up kinds, verbs and query parameters.
 */
import { createHash } from 'node:crypto';
import type { Catalog } from '../catalog.ts';
import descriptions from '../builtin/descriptions.json' with { type: 'json' };
import { OBJECT_META, reachableTypes } from '../kubernetesTypes.ts';
import type { Resource } from '../resource.ts';
import type { OpenApiSchema } from '../shape.ts';
import { REVIEWS } from './discovery.ts';
import { openApiV2, type OpenApiV2 } from './openApiV2.ts';

/** Our descriptions of a built-in type and its most used fields, for `kubectl explain`. */
interface TypeDescription {
  readonly about?: string;
  readonly fields: Readonly<Record<string, string>>;
}

const TYPES: Readonly<Record<string, TypeDescription>> = descriptions.types;
/** Descriptions of top-level fields that all kinds have. */
const COMMON_FIELDS: Readonly<Record<string, string>> = descriptions.common;
const VERSION = 'v1.36.0';
const LIST_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta';
const META_SCHEMAS = [
  OBJECT_META,
  'io.k8s.apimachinery.pkg.apis.meta.v1.Status',
  'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions',
];

const query = (name: string, type = 'string'): object => ({ name, in: 'query', schema: { type, uniqueItems: true } });
const WRITE_PARAMETERS = [query('dryRun'), query('fieldManager'), query('fieldValidation')];
const LIST_PARAMETERS = [
  query('allowWatchBookmarks', 'boolean'),
  query('continue'),
  query('fieldSelector'),
  query('labelSelector'),
  query('limit', 'integer'),
  query('resourceVersion'),
  query('resourceVersionMatch'),
  query('sendInitialEvents', 'boolean'),
  query('timeoutSeconds', 'integer'),
  query('watch', 'boolean'),
];
const PATCH_TYPES = [
  'application/apply-patch+yaml',
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
];

export class OpenApi {
  private readonly catalog: Catalog;
  private generation = -1;
  private older: OpenApiV2 | undefined;
  private readonly documents = new Map<string, { readonly text: string; readonly hash: string }>();

  constructor(catalog: Catalog) {
    this.catalog = catalog;
  }

  index(): object {
    const paths: Record<string, object> = {};
    for (const key of this.keys()) {
      paths[key] = { serverRelativeURL: `/openapi/v3/${key}?hash=${this.document(key)?.hash ?? ''}` };
    }
    return { paths };
  }

  /** `key`: for example `api/v1` or `apis/apps/v1`. */
  document(key: string): { readonly text: string; readonly hash: string } | undefined {
    this.dropOutdated();
    const known = this.documents.get(key);
    if (known !== undefined || !this.keys().has(key)) return known;
    const text = JSON.stringify(this.build(key));
    const made = { text, hash: createHash('sha256').update(text).digest('hex').slice(0, 32).toUpperCase() };
    this.documents.set(key, made);
    return made;
  }

  /** Returns the OpenAPI v2 document, with all kinds. */
  version2(): OpenApiV2 {
    this.dropOutdated();
    if (this.older === undefined) {
      const schemas: Record<string, OpenApiSchema> = {};
      for (const key of this.keys()) Object.assign(schemas, this.schemas(key).schemas);
      this.older = openApiV2(schemas, VERSION);
    }
    return this.older;
  }

  /** Drops the cached documents when the served kinds have changed. */
  private dropOutdated(): void {
    if (this.generation === this.catalog.generation) return;
    this.generation = this.catalog.generation;
    this.documents.clear();
    this.older = undefined;
  }

  private keys(): Set<string> {
    return new Set([...this.catalog.all(), ...REVIEWS].map(keyFor));
  }

  private build(key: string): object {
    const { schemas, resources } = this.schemas(key);
    const paths: Record<string, object> = {};
    for (const resource of resources) addPaths(paths, resource);
    return {
      openapi: '3.0.0',
      info: { title: 'Kubernetes', version: VERSION },
      paths,
      components: { schemas: Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1))) },
    };
  }

  private schemas(key: string): {
    readonly schemas: Record<string, OpenApiSchema>;
    readonly resources: readonly Resource[];
  } {
    const resources = this.catalog.all().filter((resource) => keyFor(resource) === key);
    const builtin = resources.filter((resource) => resource.schema === undefined).map((resource) => resource.typeName);
    const reviews = REVIEWS.filter((review) => keyFor(review) === key);
    const reviewTypes = reviews.map((review) => `io.k8s.api.${review.group.split('.')[0] ?? ''}.v1.${review.kind}`);
    const kinds = new Set([...builtin, ...reviewTypes]);
    const schemas: Record<string, OpenApiSchema> = Object.fromEntries(
      [...reachableTypes([...kinds, ...META_SCHEMAS, LIST_META])].map(([name, schema]) => [
        name,
        described(name, schema, kinds.has(name)),
      ]),
    );
    for (const resource of resources) {
      if (resource.schema !== undefined) schemas[resource.typeName] = withFields(resource.schema, {}, true);
      schemas[`${resource.typeName}List`] = listSchema(resource);
    }
    return { schemas, resources };
  }
}

function described(name: string, schema: OpenApiSchema, isKind: boolean): OpenApiSchema {
  const { about, fields } = TYPES[name] ?? { fields: {} };
  return withFields(about === undefined ? schema : { description: about, ...schema }, fields, isKind);
}

/** Adds descriptions to properties; references cannot have one, so they are wrapped in `allOf`, like upstream's. */
function withFields(schema: OpenApiSchema, fields: Readonly<Record<string, string>>, isKind: boolean): OpenApiSchema {
  if (schema.properties === undefined) return schema;
  const properties = Object.entries(schema.properties).map(([name, property]): [string, OpenApiSchema] => {
    const description = fields[name] ?? (isKind ? COMMON_FIELDS[name] : undefined);
    if (description === undefined || property.description !== undefined) return [name, property];
    const { $ref, ...rest } = property;
    return [name, $ref === undefined ? { description, ...property } : { description, ...rest, allOf: [{ $ref }] }];
  });
  return { ...schema, properties: Object.fromEntries(properties) };
}

function keyFor({ group, version }: { readonly group: string; readonly version: string }): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`;
}

function listSchema(resource: Resource): OpenApiSchema {
  const gvk = { group: resource.group, version: resource.version, kind: resource.listKind };
  return {
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion: { type: 'string' },
      items: { type: 'array', items: { $ref: `#/components/schemas/${resource.typeName}` } },
      kind: { type: 'string' },
      metadata: { $ref: `#/components/schemas/${LIST_META}` },
    },
    ...({ 'x-kubernetes-group-version-kind': [gvk] } as object),
  };
}

function addPaths(paths: Record<string, object>, resource: Resource): void {
  const { group, version, kind, plural, namespaced } = resource;
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const collection = `${root}${namespaced ? '/namespaces/{namespace}' : ''}/${plural}`;
  const gvk = { group, version, kind };
  const operation = (action: string, parameters: readonly object[], body?: object): object => ({
    operationId: `${action}${group.replaceAll(/[^a-zA-Z0-9]/g, '')}${version}${kind}${body === undefined ? '' : 'Body'}`,
    parameters,
    ...(body === undefined ? {} : { requestBody: { required: true, content: body } }),
    responses: { 200: { description: 'OK', content: jsonContent(resource.typeName) } },
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': gvk,
  });
  const whole = jsonContent(resource.typeName);
  const patch = Object.fromEntries(
    PATCH_TYPES.filter((type) => !resource.custom || !type.includes('strategic')).map((type) => [
      type,
      { schema: { type: 'object' } },
    ]),
  );
  paths[collection] = {
    get: operation('list', LIST_PARAMETERS),
    post: operation('post', WRITE_PARAMETERS, whole),
    delete: operation('deletecollection', LIST_PARAMETERS),
    parameters: namespaced ? [pathParameter('namespace')] : [],
  };
  paths[`${collection}/{name}`] = {
    get: operation('get', []),
    put: operation('put', WRITE_PARAMETERS, whole),
    patch: operation('patch', [...WRITE_PARAMETERS, query('force', 'boolean')], patch),
    delete: operation('delete', [query('gracePeriodSeconds', 'integer'), query('propagationPolicy')]),
    parameters: [pathParameter('name'), ...(namespaced ? [pathParameter('namespace')] : [])],
  };
  if (namespaced) paths[`${root}/${plural}`] = { get: operation('list', LIST_PARAMETERS), parameters: [] };
}

function pathParameter(name: string): object {
  return { name, in: 'path', required: true, schema: { type: 'string', uniqueItems: true } };
}

function jsonContent(typeName: string): object {
  return { 'application/json': { schema: { $ref: `#/components/schemas/${typeName}` } } };
}
