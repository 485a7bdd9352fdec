/**
 * The built-in types of Kubernetes by their names in OpenAPI. The data is extracted from a Kubernetes release
 * (scripts/extract-kubernetes-types.ts).
 */
import { InvariantError } from '../../errors/invariantError.ts';
import definitions from './schemas/kubernetes.json' with { type: 'json' };
import { Shape, type OpenApiSchema } from './shape.ts';

const schemas = definitions as unknown as Readonly<Record<string, OpenApiSchema>>;
const shapes = new Map<string, Shape>();

export const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

export function schemaNamed(name: string): OpenApiSchema {
  const schema = schemas[name];
  if (schema === undefined) throw new InvariantError(`no Kubernetes type ${name}`);
  return schema;
}

export function shapeNamed(name: string): Shape {
  let shape = shapes.get(name);
  if (shape === undefined) {
    shape = new Shape({ $ref: `#/components/schemas/${name}` }, schemaNamed, true);
    shapes.set(name, shape);
  }
  return shape;
}

/** Returns the given types and all that they reference, directly or not. */
export function reachableTypes(names: Iterable<string>): Map<string, OpenApiSchema> {
  const found = new Map<string, OpenApiSchema>();
  const open = [...names];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (found.has(name)) continue;
    const schema = schemaNamed(name);
    found.set(name, schema);
    for (const [, reference] of JSON.stringify(schema).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (reference !== undefined) open.push(reference);
    }
  }
  return found;
}
