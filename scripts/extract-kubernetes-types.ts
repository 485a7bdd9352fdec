/**
 * Rewrites kubernetes.json, protobuf.json and zeroValues.json in src/local/apiserver/schemas from the sources of a Kubernetes release:
 * `api/openapi-spec/v3`, and the modules `k8s.io/api`, `apimachinery`, `apiextensions-apiserver` and
 * `kube-aggregator`. They hold every type that the served kinds reach, with structure, list types and merge keys,
 * without prose; the field numbers of the same types; and their zero values. Format the files with prettier
 * afterwards.
 */
import { InvariantError } from '../src/errors/invariantError.ts';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

type Json = string | number | boolean | null | readonly Json[] | JsonObject;
interface JsonObject {
  readonly [name: string]: Json;
}

const [folder, apiModule, machineryModule, extensionsModule, aggregatorModule] = process.argv.slice(2);
if (
  folder === undefined ||
  apiModule === undefined ||
  machineryModule === undefined ||
  extensionsModule === undefined ||
  aggregatorModule === undefined
) {
  throw new InvariantError(
    'usage: tsx extract-kubernetes-types.ts <api/openapi-spec/v3> <api> <apimachinery> <apiextensions-apiserver> <kube-aggregator>',
  );
}

const SERVED = [
  /^io\.k8s\.api\.core\.v1\.(Pod|Node|Namespace|Service|Endpoints|ConfigMap|Secret|ServiceAccount|Event)$/,
  /^io\.k8s\.api\.core\.v1\.(PersistentVolume|PersistentVolumeClaim|PodTemplate|ReplicationController)$/,
  /^io\.k8s\.api\.core\.v1\.(LimitRange|ResourceQuota|Binding|ComponentStatus)$/,
  /^io\.k8s\.api\.apps\.v1\.(Deployment|ReplicaSet|DaemonSet|StatefulSet|ControllerRevision)$/,
  /^io\.k8s\.api\.batch\.v1\.(Job|CronJob)$/,
  /^io\.k8s\.api\.policy\.v1\.(PodDisruptionBudget|Eviction)$/,
  /^io\.k8s\.api\.coordination\.v1\.Lease$/,
  /^io\.k8s\.api\.storage\.v1\.(StorageClass|CSINode|CSIDriver|CSIStorageCapacity|VolumeAttachment)$/,
  /^io\.k8s\.api\.storage\.v1\.VolumeAttributesClass$/,
  /^io\.k8s\.api\.scheduling\.v1\.PriorityClass$/,
  /^io\.k8s\.api\.autoscaling\.(v2\.HorizontalPodAutoscaler|v1\.(HorizontalPodAutoscaler|Scale))$/,
  /^io\.k8s\.api\.rbac\.v1\.(Role|RoleBinding|ClusterRole|ClusterRoleBinding)$/,
  /^io\.k8s\.api\.networking\.v1\.(Ingress|IngressClass|NetworkPolicy|IPAddress|ServiceCIDR)$/,
  /^io\.k8s\.api\.node\.v1\.RuntimeClass$/,
  /^io\.k8s\.api\.discovery\.v1\.EndpointSlice$/,
  /^io\.k8s\.api\.events\.v1\.Event$/,
  /^io\.k8s\.api\.authorization\.v1\.(SelfSubject(Access|Rules)Review|(Local)?SubjectAccessReview)$/,
  /^io\.k8s\.api\.authentication\.v1\.(SelfSubjectReview|TokenRequest|TokenReview)$/,
  /^io\.k8s\.api\.admissionregistration\.v1\.(Mutating|Validating)WebhookConfiguration$/,
  /^io\.k8s\.api\.admissionregistration\.v1\.(Mutating|Validating)AdmissionPolicy(Binding)?$/,
  /^io\.k8s\.api\.certificates\.v1\.CertificateSigningRequest$/,
  /^io\.k8s\.api\.flowcontrol\.v1\.(FlowSchema|PriorityLevelConfiguration)$/,
  /^io\.k8s\.kube-aggregator\.pkg\.apis\.apiregistration\.v1\.APIService$/,
  /^io\.k8s\.api\.resource\.v1\.(ResourceClaim|ResourceClaimTemplate|ResourceSlice|DeviceClass)$/,
  /^io\.k8s\.apiextensions-apiserver\.pkg\.apis\.apiextensions\.v1\.CustomResourceDefinition$/,
  /^io\.k8s\.apimachinery\.pkg\.apis\.meta\.v1\.(Status|DeleteOptions)$/,
];
const DROPPED = new Set(['description', 'example', 'externalDocs']);

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const all = new Map<string, JsonObject>();
for (const file of readdirSync(folder)) {
  const document = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { components?: { schemas?: JsonObject } };
  for (const [name, schema] of Object.entries(document.components?.schemas ?? {})) {
    if (!all.has(name) && isObject(schema)) all.set(name, schema);
  }
}

const kept = new Map<string, Json>();

function keep(name: string): void {
  if (kept.has(name)) return;
  const schema = all.get(name);
  if (schema === undefined) throw new InvariantError(`no definition of ${name}`);
  kept.set(name, {});
  kept.set(name, strip(schema, false));
}

/** `properties` holds names, not keywords: nothing in it is dropped. */
function strip(schema: JsonObject, isProperties: boolean): Json {
  const result: Record<string, Json> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (!isProperties && DROPPED.has(key)) continue;
    if (!isProperties && key === '$ref' && typeof value === 'string') keep(value.split('/').at(-1) ?? '');
    result[key] = !isProperties && key === 'default' ? value : stripValue(value, !isProperties && key === 'properties');
  }
  // A lone reference is wrapped only to carry a description; without it the wrapper says nothing. A wrapper with a
  // default stays: that default tells an always present struct from an optional one.
  const parts = result['allOf'];
  if (!isProperties && Array.isArray(parts) && parts.length === 1 && Object.keys(result).length === 1) {
    return (parts as readonly Json[])[0] ?? {};
  }
  return result;
}

function stripValue(value: Json, isProperties: boolean): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => stripValue(item, false));
  return isObject(value) ? strip(value, isProperties) : value;
}

for (const name of all.keys()) if (SERVED.some((pattern) => pattern.test(name))) keep(name);
write('kubernetes.json', kept);

function write(file: string, entries: ReadonlyMap<string, unknown>): void {
  const lines = [...entries]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`);
  writeFileSync(new URL(`../src/local/apiserver/schemas/${file}`, import.meta.url), `{\n${lines.join(',\n')}\n}\n`);
}

/** `k8s.io.api.core.v1` is `io.k8s.api.core.v1` in OpenAPI. */
function openApiName(name: string): string {
  return name.replace(/^k8s\.io\./, 'io.k8s.');
}

interface ProtoField {
  readonly name: string;
  readonly type: string;
  readonly form: 'map' | 'list' | 'one';
}

function packageOf(text: string): string {
  return openApiName(/^package (.+);$/m.exec(text)?.[1] ?? '').replaceAll('_', '-');
}

/** Field numbers and types from generated.proto. */
function readMessages(text: string): Map<string, Map<string, ProtoField>> {
  const inPackage = packageOf(text);
  const found = new Map<string, Map<string, ProtoField>>();
  for (const [, name = '', body = ''] of text.matchAll(/^message (\w+) \{\n(.*?)^\}/gms)) {
    const fields = new Map<string, ProtoField>();
    for (const [, map, label, type, field = '', number = ''] of body.matchAll(
      /^ {2}(?:map<string, ([\w.]+)>|(optional|repeated|required) ([\w.]+)) (\w+) = (\d+);/gm,
    )) {
      const bare = map ?? type ?? '';
      const isScalar = /^(u?int(32|64)|bool|string|bytes|double|float)$/.test(bare);
      const full = isScalar ? bare : bare.startsWith('.') ? openApiName(bare.slice(1)) : `${inPackage}.${bare}`;
      const form = map !== undefined ? 'map' : label === 'repeated' ? 'list' : 'one';
      fields.set(number, { name: field, type: full, form });
    }
    found.set(`${inPackage}.${name}`, fields);
  }
  return found;
}

/** From the Go types: which fields leave zero values out of JSON, and which are part of their parent. */
function readTags(text: string, inPackage: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const [, name = '', body = ''] of text.matchAll(/^type (\w+) struct \{\n(.*?)^\}/gms)) {
    for (const [, type = '', json = '', number = ''] of body.matchAll(
      /^\t(?:\w+\s+)?([*[\]\w.]+)\s+`json:"([^"]*)" protobuf:"\w+,(\d+),/gm,
    )) {
      const isInline = json.startsWith(',') && json.includes('inline');
      const dropsZero = json.includes('omitempty') && !type.startsWith('*');
      found.set(`${inPackage}.${name}/${number}`, isInline ? 'inline' : dropsZero ? 'omit' : '');
    }
  }
  return found;
}

const messages = new Map<string, Map<string, ProtoField>>();
const tags = new Map<string, string>();
const inApi = readdirSync(apiModule, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('generated.proto'))
  .map((path) => join(apiModule, path));
const inMachinery = ['pkg/apis/meta/v1', 'pkg/runtime', 'pkg/util/intstr', 'pkg/api/resource'].map((path) =>
  join(machineryModule, path, 'generated.proto'),
);
for (const path of [...inApi, ...inMachinery]) {
  const text = readFileSync(path, 'utf8');
  for (const [name, fields] of readMessages(text)) messages.set(name, fields);
  const types = path.replace('generated.proto', 'types.go');
  if (!existsSync(types)) continue;
  for (const [key, tag] of readTags(readFileSync(types, 'utf8'), packageOf(text))) tags.set(key, tag);
}

/** Types that the decoder knows by itself. */
const SPECIAL = /\.(Quantity|IntOrString|Time|MicroTime|RawExtension|FieldsV1|ExtraValue)$/;
const numbered = new Map<string, Record<string, readonly string[]>>();
const open = [...kept.keys()];
for (let name = open.pop(); name !== undefined; name = open.pop()) {
  const fields = messages.get(name);
  if (numbered.has(name) || fields === undefined || SPECIAL.test(name)) continue;
  const rows: Record<string, readonly string[]> = {};
  for (const [number, field] of fields) {
    const tag = tags.get(`${name}/${number}`) ?? '';
    rows[number] = [field.name, field.type, field.form, ...(tag === '' ? [] : [tag])];
    if (field.type.startsWith('io.')) open.push(field.type);
  }
  numbered.set(name, rows);
}
write('protobuf.json', numbered);

/** What a Go field of this type looks like in JSON when it has never been set; `undefined` when it is left out. */
function zeroOf(type: string, options: string, underlying: ReadonlyMap<string, string>): Json | undefined {
  if (options.includes('omitzero')) return undefined;
  if (type.startsWith('[') || type.startsWith('map')) return options.includes('omitempty') ? undefined : null;
  const bare = type.split('.').at(-1) ?? type;
  const base = underlying.get(bare) ?? bare;
  const isStruct = base === 'struct' || /^(ObjectMeta|ListMeta|LabelSelector|VolumeNodeAffinity)$/.test(bare);
  if (/^(Time|MicroTime|RawExtension)$/.test(bare)) return null;
  if (bare === 'Quantity') return '0';
  if (bare === 'IntOrString') return options.includes('omitempty') ? undefined : 0;
  if (isStruct) return {};
  if (options.includes('omitempty') || type.startsWith('*')) return undefined;
  if (base.startsWith('[') || base.startsWith('map')) return null;
  if (/^u?int(32|64)?$|^float64$/.test(base)) return 0;
  if (base === 'bool') return false;
  return base === 'string' || base === 'UID' ? '' : undefined;
}

const goFiles = [
  ...inApi.map((path) => [path.replace('generated.proto', 'types.go'), path] as const),
  ...inMachinery.map((path) => [path.replace('generated.proto', 'types.go'), path] as const),
  ...[
    [extensionsModule, 'pkg/apis/apiextensions/v1'],
    [aggregatorModule, 'pkg/apis/apiregistration/v1'],
  ].map(([root = '', inner = '']) => [join(root, inner, 'types.go'), join(root, inner, 'generated.proto')] as const),
];
const sources = goFiles.flatMap(([goFile, protoFile]) => {
  if (!existsSync(goFile) || !existsSync(protoFile)) return [];
  const text = readdirSync(join(goFile, '..'))
    .filter((name) => name.endsWith('.go') && !name.startsWith('zz_') && !name.includes('generated'))
    .map((name) => readFileSync(join(goFile, '..', name), 'utf8'))
    .join('\n');
  return [{ inPackage: packageOf(readFileSync(protoFile, 'utf8')), text }];
});
const baseTypes = (text: string): [string, string][] =>
  [...text.matchAll(/^type (\w+) (struct|[\w[\].]+)/gm)].map(([, name = '', base = '']) => [name, base]);
const everywhere = new Map(sources.flatMap(({ text }) => baseTypes(text)));
const zeroes = new Map<string, { zero?: Record<string, Json>; omit?: string[] }>();
for (const { inPackage, text } of sources) {
  const underlying = new Map([...everywhere, ...baseTypes(text)]);
  const inlined = new Map<string, string[]>();
  const own = new Map<string, Record<string, Json>>();
  const omitted = new Map<string, string[]>();
  for (const [, name = '', body = ''] of text.matchAll(/^type (\w+) struct \{\n(.*?)^\}/gms)) {
    const fields: Record<string, Json> = {};
    for (const [, first = '', second, json = ''] of body.matchAll(
      /^\t([\w.*]+)(?:[ \t]+([*[\]\w.]+))?[ \t]+`json:"([^"]*)"/gm,
    )) {
      const type = second ?? first;
      const [field = '', ...rest] = json.split(',');
      if (field === '-') continue;
      if (field === '' && rest.includes('inline')) {
        inlined.set(name, [...(inlined.get(name) ?? []), type.split('.').at(-1) ?? '']);
        continue;
      }
      const zero = type.startsWith('*') ? undefined : zeroOf(type, rest.join(','), underlying);
      if (zero !== undefined) fields[field] = zero;
      const base = underlying.get(type.split('.').at(-1) ?? '') ?? type;
      if (rest.includes('omitempty') && /^(string|UID|u?int(32|64)?|bool|float64)$/.test(base)) {
        omitted.set(name, [...(omitted.get(name) ?? []), field]);
      }
    }
    own.set(name, fields);
  }
  for (const [name, fields] of own) {
    const parts = inlined.get(name) ?? [];
    const zero = Object.assign({}, ...parts.map((one) => own.get(one) ?? {}), fields) as Record<string, Json>;
    const omit = [...parts.flatMap((one) => omitted.get(one) ?? []), ...(omitted.get(name) ?? [])];
    if (!kept.has(`${inPackage}.${name}`)) continue;
    zeroes.set(`${inPackage}.${name}`, {
      ...(Object.keys(zero).length === 0 ? {} : { zero }),
      ...(omit.length === 0 ? {} : { omit }),
    });
  }
}
write('zeroValues.json', zeroes);
