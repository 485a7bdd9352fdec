/**
 * Rewrites kubernetes.json from the OpenAPI documents of a Kubernetes release. In: the folder `api/openapi-spec/v3` of
 * its sources as the only argument. Out: every type that the served kinds reach, with structure, list types and merge
 * keys, without prose.
 */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: node extract.mjs <api/openapi-spec/v3>');

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
