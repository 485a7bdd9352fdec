/**
 * Rewrites kubernetes.json and protobuf.json from a Kubernetes release. In: three folders of its sources:
 * `api/openapi-spec/v3`, and the modules `k8s.io/api` and `k8s.io/apimachinery`. Out: every type that the served kinds
 * reach, with structure, list types and merge keys, without prose; and the field numbers of the same types.
 */
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder, apiModule, machineryModule] = process.argv.slice(2);
if (machineryModule === undefined)
  throw new Error('usage: node extract.mjs <api/openapi-spec/v3> <api> <apimachinery>');

const SERVED = [
  /^io\.k8s\.api\.core\.v1\.(Pod|Node|Namespace|Service|Endpoints|ConfigMap|Secret|ServiceAccount|Event|PersistentVolume|PersistentVolumeClaim|PodTemplate|ReplicationController|LimitRange|ResourceQuota|Binding)$/,
  /^io\.k8s\.api\.apps\.v1\.(Deployment|ReplicaSet|DaemonSet|StatefulSet|ControllerRevision)$/,
  /^io\.k8s\.api\.batch\.v1\.(Job|CronJob)$/,
  /^io\.k8s\.api\.policy\.v1\.(PodDisruptionBudget|Eviction)$/,
  /^io\.k8s\.api\.coordination\.v1\.Lease$/,
  /^io\.k8s\.api\.storage\.v1\.(StorageClass|CSINode|CSIDriver|CSIStorageCapacity|VolumeAttachment|VolumeAttributesClass)$/,
  /^io\.k8s\.api\.scheduling\.v1\.PriorityClass$/,
  /^io\.k8s\.api\.autoscaling\.(v2\.HorizontalPodAutoscaler|v1\.Scale)$/,
  /^io\.k8s\.api\.rbac\.v1\.(Role|RoleBinding|ClusterRole|ClusterRoleBinding)$/,
  /^io\.k8s\.api\.networking\.v1\.(Ingress|IngressClass|NetworkPolicy)$/,
  /^io\.k8s\.api\.node\.v1\.RuntimeClass$/,
  /^io\.k8s\.api\.discovery\.v1\.EndpointSlice$/,
  /^io\.k8s\.api\.events\.v1\.Event$/,
  /^io\.k8s\.api\.authorization\.v1\.(SelfSubjectAccessReview|SelfSubjectRulesReview|SubjectAccessReview|LocalSubjectAccessReview)$/,
  /^io\.k8s\.api\.authentication\.v1\.(SelfSubjectReview|TokenRequest)$/,
  /^io\.k8s\.api\.admissionregistration\.v1\.(Mutating|Validating)WebhookConfiguration$/,
  /^io\.k8s\.api\.resource\.v1\.(ResourceClaim|ResourceClaimTemplate|ResourceSlice|DeviceClass)$/,
  /^io\.k8s\.apiextensions-apiserver\.pkg\.apis\.apiextensions\.v1\.CustomResourceDefinition$/,
  /^io\.k8s\.apimachinery\.pkg\.apis\.meta\.v1\.(Status|DeleteOptions)$/,
];
const DROPPED = new Set(['description', 'example', 'externalDocs']);

const all = new Map();
for (const file of readdirSync(folder)) {
  const schemas = JSON.parse(readFileSync(join(folder, file), 'utf8')).components?.schemas ?? {};
  for (const [name, schema] of Object.entries(schemas)) if (!all.has(name)) all.set(name, schema);
}

const kept = new Map();
function keep(name) {
  if (kept.has(name)) return;
  const schema = all.get(name);
  if (schema === undefined) throw new Error(`no definition of ${name}`);
  kept.set(name, undefined);
  kept.set(name, strip(schema));
}

/** `properties` holds names, not keywords: nothing in it is dropped. */
function strip(schema, isProperties = false) {
  const result = {};
  for (const [key, value] of Object.entries(schema)) {
    if (!isProperties && DROPPED.has(key)) continue;
    if (!isProperties && key === '$ref') {
      keep(value.split('/').at(-1));
      result[key] = value;
    } else if (Array.isArray(value)) {
      result[key] = value.map((item) => (item !== null && typeof item === 'object' ? strip(item) : item));
    } else if (key === 'default' && !isProperties) {
      result[key] = value;
    } else if (value !== null && typeof value === 'object') {
      result[key] = strip(value, !isProperties && key === 'properties');
    } else {
      result[key] = value;
    }
  }
  // A lone reference is wrapped only to carry a description; without it the wrapper says nothing. A wrapper with a
  // default stays: that default tells an always present struct from an optional one.
  if (!isProperties && result.allOf?.length === 1 && Object.keys(result).length === 1) return result.allOf[0];
  return result;
}

for (const name of all.keys()) if (SERVED.some((pattern) => pattern.test(name))) keep(name);
const sorted = [...kept].sort(([left], [right]) => (left < right ? -1 : 1));
const lines = sorted.map(([name, schema]) => `${JSON.stringify(name)}: ${JSON.stringify(schema)}`);
writeFileSync(new URL('./kubernetes.json', import.meta.url), `{\n${lines.join(',\n')}\n}\n`);

/** `k8s.io.api.core.v1` is `io.k8s.api.core.v1` in OpenAPI. */
const openApiName = (name) => name.replace(/^k8s\.io\./, 'io.k8s.');

/** Field numbers and types from generated.proto. */
function readMessages(text) {
  const inPackage = openApiName(/^package (.+);$/m.exec(text)[1]);
  const messages = new Map();
  for (const [, name, body] of text.matchAll(/^message (\w+) \{\n(.*?)^\}/gms)) {
    const fields = new Map();
    for (const [, map, label, type, field, number] of body.matchAll(
      /^ {2}(?:map<string, ([\w.]+)>|(optional|repeated|required) ([\w.]+)) (\w+) = (\d+);/gm,
    )) {
      const bare = map ?? type;
      const isScalar = /^(u?int(32|64)|bool|string|bytes|double|float)$/.test(bare);
      const full = isScalar ? bare : bare.startsWith('.') ? openApiName(bare.slice(1)) : `${inPackage}.${bare}`;
      fields.set(Number(number), {
        name: field,
        type: full,
        form: map ? 'map' : label === 'repeated' ? 'list' : 'one',
      });
    }
    messages.set(`${inPackage}.${name}`, fields);
  }
  return messages;
}

/** From the Go types: which fields leave zero values out of JSON, and which are part of their parent. */
function readTags(text, inPackage) {
  const tags = new Map();
  for (const [, name, body] of text.matchAll(/^type (\w+) struct \{\n(.*?)^\}/gms)) {
    for (const [, type, json, number] of body.matchAll(
      /^\t(?:\w+\s+)?([*[\]\w.]+)\s+`json:"([^"]*)" protobuf:"\w+,(\d+),/gm,
    )) {
      const isInline = json.startsWith(',') && json.includes('inline');
      const dropsZero = json.includes('omitempty') && !type.startsWith('*');
      tags.set(`${inPackage}.${name}/${number}`, isInline ? 'inline' : dropsZero ? 'omit' : '');
    }
  }
  return tags;
}

const messages = new Map();
const tags = new Map();
const sources = [
  ...readdirSync(apiModule, { recursive: true })
    .filter((path) => path.endsWith('generated.proto'))
    .map((path) => join(apiModule, path)),
  ...['pkg/apis/meta/v1', 'pkg/runtime', 'pkg/util/intstr', 'pkg/api/resource'].map((path) =>
    join(machineryModule, path, 'generated.proto'),
  ),
];
for (const path of sources) {
  const text = readFileSync(path, 'utf8');
  const found = readMessages(text);
  const [inPackage] = [...found.keys()].map((name) => name.slice(0, name.lastIndexOf('.')));
  for (const [name, fields] of found) messages.set(name, fields);
  const types = path.replace('generated.proto', 'types.go');
  if (existsSync(types)) for (const [key, tag] of readTags(readFileSync(types, 'utf8'), inPackage)) tags.set(key, tag);
}

/** Types that the decoder knows by itself. */
const SPECIAL = /\.(Quantity|IntOrString|Time|MicroTime|RawExtension|FieldsV1|ExtraValue)$/;
const numbered = new Map();
const open = [...kept.keys()];
for (let name = open.pop(); name !== undefined; name = open.pop()) {
  const fields = messages.get(name);
  if (numbered.has(name) || fields === undefined || SPECIAL.test(name)) continue;
  const rows = {};
  for (const [number, { name: field, type, form }] of fields) {
    const tag = tags.get(`${name}/${number}`) ?? '';
    rows[number] = [field, type, form, ...(tag === '' ? [] : [tag])];
    if (type.startsWith('io.')) open.push(type);
  }
  numbered.set(name, rows);
}
const messageLines = [...numbered]
  .sort(([left], [right]) => (left < right ? -1 : 1))
  .map(([name, rows]) => `${JSON.stringify(name)}: ${JSON.stringify(rows)}`);
writeFileSync(new URL('./protobuf.json', import.meta.url), `{\n${messageLines.join(',\n')}\n}\n`);
