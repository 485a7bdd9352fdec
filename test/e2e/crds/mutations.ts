/**
 * Small seeded mutations of valid objects. The schema only guides the choice (bounds, enums, missing fields); the
 * result may be valid or not.
 */
import { isJsonObject } from '../../../src/api/schema/json.ts';
import type { StructuralSchema } from '../../../src/api/schema/structuralSchema.ts';

type Json = unknown;

/** Printed as it stands: `10.0` and numbers beyond 64 bits do not survive as JavaScript numbers. */
class RawNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** mulberry32: small, seeded, good enough to vary. */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const STRINGS: readonly string[] = [
  ['', ' ', 'a', 'A', 'abc!', 'é', '😀', 'a\\b', 'a<b', 'a?b', '-', 'x'.repeat(63), 'x'.repeat(64), 'y'.repeat(600)],
  ['true', 'null', '0', '1', '3', '-1', '+5', '007', '0x10', '1.5', '1e3', '9223372036854775808', ' 1', '1 '],
  ['Never', '0s', '10m', '1h30m', '720h', '1d', '-5m', '1.5h', '1h0s', '1h30m0s', '0s0s', '100ms', 'never'],
  ['10%', '100%', '101%', '00%', '5', '05', '%', '-5%', '12.5%'],
  ['@daily', '@dailyfoo', '@every 1h', '0 9 * * 1-5', '* * * *', '* * * * * *', 'x @daily', '@midnight'],
  ['0.5', '.5', '5.', '+10%', '-100%', '-101%', '-99.9%', '+1.5', '-0.1', '+', '+.5%', '--1'],
  ['1Gi', '100m', '1k', '1ki', '1E', '1e-3', '+1', '.5Gi', '5.Gi', 'Gi', '1 Gi', '1u', '50Mi', '5X', '5m', '10K'],
  ['karpenter.sh/capacity-type', 'karpenter.sh/nodepool', 'karpenter.sh/foo', 'foo.karpenter.sh/x', 'karpenter.sh'],
  ['foo-karpenter.sh/x', 'karpenter.sh.io/x', 'x/karpenter.sh', 'kubernetes.io/hostname', 'kubernetes.io/arch'],
  ['karpenter.azure.com/sku-name', 'karpenter.azure.com/foo', 'a.karpenter.azure.com/foo', 'karpenter.azure.com'],
  ['karpenter.azure.com/aksnodeclass', 'karpenter.azure.com/placement-scope', 'karpenter.azure.com/sku-gpu-count'],
  ['kubernetes.azure.com/mode', 'kubernetes.azure.com/foo', 'kubernetes.azure.com/hostedvm', 'agentpool'],
  ['kubernetes.azure.com/os-sku', 'storageprofile', 'storagetier', 'accelerator', 'topology.kubernetes.io/zone'],
  ['a/b/c', '/a', 'a/', 'UPPER.com/x', 'under_score', 'nodes', 'cpu', 'memory', 'ephemeral-storage', 'pods'],
  ['2026-01-02T03:04:05Z', '2026-01-02t03:04:05z', '2026-02-30T03:04:05Z', '2026-01-02', '2026-01-02T25:00:00Z'],
  ['2026-01-02T03:04:05.123456789+02:00', '2026-01-02T03:04:05', '2026-01-02 03:04:05Z'],
  ['.', '..', 'cluster.local', 'x.cluster.local', 'xcluster.local', 'example.com', 'example.com.', 'a_b.c', '-a.b'],
  ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt', 'Gte', 'Lte', 'NoSchedule', 'Ready', 'Unknown', 'True'],
  ['32768 60999', '1024 32768', '1023 60999', '60999 32768', '70000 80000', '1 2 3', '60000 50000', '61000 65535'],
  [
    '/SUBSCRIPTIONS/x/resourcegroups/rg/providers/microsoft.network/VirtualNetworks/v/Subnets/s',
    '/subscriptions/x/resourceGroups/rg./providers/Microsoft.Network/virtualNetworks/v/subnets/s',
    `/subscriptions/x/resourceGroups/${'r'.repeat(91)}/providers/Microsoft.Network/virtualNetworks/v/subnets/s`,
    '/subscriptions/x/resourceGroups/rg/providers/Microsoft.Network/virtualNetworks/v/subnets/s/t',
  ],
].flat();

const NUMBERS: readonly Json[] = [
  [0, 1, -1, 2, 5, 10, 50, 51, 100, 101, 128, 2048, 65536, 2147483647, 2147483648, -2147483649, 1.5],
  ['10.0', '2.0', '1e1', '1.0e2', '9223372036854775807', '9223372036854775808', '1e300', '-0', '10.000000000001'].map(
    (text) => new RawNumber(text),
  ),
].flat();

export class Mutator {
  private readonly next: () => number;

  constructor(seed: number) {
    this.next = randomNumbers(seed);
  }

  /** One to three mutations below `spec` (or the named field). */
  mutate(schema: StructuralSchema, object: Readonly<Record<string, Json>>, field: 'spec' | 'status'): string {
    let result: Json = object;
    const times = 1 + Math.floor(this.next() ** 2 * 3);
    for (let time = 0; time < times; time += 1) {
      result = this.next() < 0.02 ? this.damage(schema, result) : this.below(schema, result, field);
    }
    // What names the object is the test's own business.
    return print(isJsonObject(result) ? ['apiVersion', 'kind', 'metadata'].reduce(without, result) : result);
  }

  private below(schema: StructuralSchema, object: Json, field: string): Json {
    if (!isJsonObject(object)) return object;
    const inner = schema.properties?.[field];
    return { ...object, [field]: this.descend(inner, object[field]) };
  }

  private pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.next() * items.length)] as T;
  }

  private descend(schema: StructuralSchema | undefined, value: Json): Json {
    const stop = this.next() < 0.15;
    if (!stop && Array.isArray(value) && value.length > 0) {
      const at = Math.floor(this.next() * value.length);
      return value.map((item: Json, index) => (index === at ? this.descend(schema?.items, item) : item));
    }
    if (!stop && isJsonObject(value) && !(value instanceof RawNumber) && Object.keys(value).length > 0) {
      const name = this.pick(Object.keys(value));
      return { ...value, [name]: this.descend(innerSchema(schema, name), value[name]) };
    }
    return this.damage(schema, value);
  }

  private damage(schema: StructuralSchema | undefined, value: Json): Json {
    if (isJsonObject(value) && !(value instanceof RawNumber)) {
      const choice = this.next();
      if (choice < 0.35) return this.addField(schema, value);
      if (choice < 0.6 && Object.keys(value).length > 0) return without(value, this.pick(Object.keys(value)));
      if (choice < 0.75 && Object.keys(value).length > 0) return { ...value, [this.pick(Object.keys(value))]: null };
      if (choice < 0.8) return {};
    }
    if (Array.isArray(value)) {
      const choice = this.next();
      const item: Json = value.length > 0 ? this.pick(value as Json[]) : this.invent(schema?.items, 0);
      if (choice < 0.25) return [...(value as Json[]), item];
      if (choice < 0.45) return [...(value as Json[]), this.invent(schema?.items, 0)];
      if (choice < 0.6) return value.slice(1) as Json[];
      if (choice < 0.65) return Array.from({ length: 101 }, () => item);
      if (choice < 0.75) return [];
      if (choice < 0.8) return [...(value as Json[])].reverse();
      if (choice < 0.85) return [...(value as Json[]), null];
    }
    return this.next() < 0.75 ? this.invent(schema, 0) : this.anything();
  }

  private addField(schema: StructuralSchema | undefined, value: Readonly<Record<string, Json>>): Json {
    const missing = Object.keys(schema?.properties ?? {}).filter((name) => !(name in value));
    if (missing.length > 0 && this.next() < 0.85) {
      const name = this.pick(missing);
      return { ...value, [name]: this.invent(schema?.properties?.[name], 0) };
    }
    const name = this.pick(STRINGS);
    return { ...value, [name]: this.invent(innerSchema(schema, name), 0) };
  }

  /** A value that usually matches the schema. */
  private invent(schema: StructuralSchema | undefined, depth: number): Json {
    if (schema === undefined || this.next() < 0.08) return this.anything();
    if (schema.enum !== undefined && this.next() < 0.8) return this.pick(schema.enum);
    const { type } = schema;
    if (type === 'boolean') return this.next() < 0.5;
    if (type === 'integer' || type === 'number') return this.number(schema);
    if (type === 'object') return this.inventObject(schema, depth);
    if (type === 'array') {
      return Array.from({ length: Math.floor(this.next() * 3) }, () => this.invent(schema.items, depth + 1));
    }
    return this.next() < 0.15 ? this.number(schema) : this.text(schema);
  }

  private inventObject(schema: StructuralSchema, depth: number): Json {
    if (schema.properties === undefined) {
      return Object.fromEntries(
        Array.from({ length: Math.floor(this.next() * 3) }, () => [
          this.pick(STRINGS),
          this.invent(innerSchema(schema, ''), depth + 1),
        ]),
      );
    }
    const names = Object.keys(schema.properties).filter(
      (name) => this.next() < (schema.required?.includes(name) === true ? 0.95 : 0.3 / (depth + 1)),
    );
    return Object.fromEntries(names.map((name) => [name, this.invent(schema.properties?.[name], depth + 1)]));
  }

  /** Tries a few strings for one that fits the pattern, so that valid values are common. */
  private text(schema: StructuralSchema): string {
    const wanted = schema.pattern === undefined ? undefined : new RegExp(schema.pattern.replace('(?i)', ''));
    for (let attempt = 0; attempt < 6; attempt += 1) {
      const text = this.pick(STRINGS);
      if (wanted === undefined || wanted.test(text)) return text;
    }
    return this.pick(STRINGS);
  }

  private number(schema: StructuralSchema): Json {
    const { minimum, maximum } = schema;
    const edges = [minimum, maximum].flatMap((edge) => (edge === undefined ? [] : [edge - 1, edge, edge + 1]));
    if (edges.length > 0 && this.next() < 0.7) {
      const edge = this.pick(edges);
      return this.next() < 0.1 ? new RawNumber(`${edge}.0`) : edge;
    }
    return this.pick(NUMBERS);
  }

  private anything(): Json {
    return this.pick<() => Json>([
      () => null,
      () => this.next() < 0.5,
      () => this.pick(NUMBERS),
      () => this.pick(STRINGS),
      () => [],
      () => ({}),
      () => [this.pick(STRINGS)],
      () => ({ [this.pick(STRINGS)]: this.pick(STRINGS) }),
    ])();
  }
}

function innerSchema(schema: StructuralSchema | undefined, name: string): StructuralSchema | undefined {
  const additional = schema?.additionalProperties;
  return schema?.properties?.[name] ?? (typeof additional === 'object' ? additional : undefined);
}

function without(value: Readonly<Record<string, Json>>, name: string): Record<string, Json> {
  return Object.fromEntries(Object.entries(value).filter(([each]) => each !== name));
}

export function print(value: Json): string {
  if (value instanceof RawNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map((item: Json) => print(item)).join(',')}]`;
  if (isJsonObject(value)) {
    return `{${Object.entries(value)
      .map(([name, inner]) => `${JSON.stringify(name)}:${print(inner)}`)
      .join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}
