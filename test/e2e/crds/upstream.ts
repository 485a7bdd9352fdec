/**
 * The CRDs of Karpenter and its Azure provider, fetched when the test runs and moved to groups of their own, so that
 * they live beside ours on one API server and every object can be sent to both.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseYaml } from '../../../src/api/yaml/parseYaml.ts';
import type { CustomResourceDefinition } from '../../../src/api/kinds.ts';

const CORE = 'sigs.k8s.io/karpenter@v1.14.1';
const AZURE = 'github.com/Azure/karpenter-provider-azure@v1.10.2';
const CORE_FOLDERS = ['pkg/apis/crds', 'kwok/apis/crds'];
const AZURE_FOLDERS = ['pkg/apis/crds'];
/** A folder with the Azure provider's CRDs, for machines that cannot download the module. */
const AZURE_OVERRIDE = 'NODEWRIGHT_AZURE_CRDS';

export interface UpstreamCrds {
  readonly crds: readonly CustomResourceDefinition[];
  /** Why the Azure provider's own definitions are not among them, if so. */
  readonly withoutAzure?: string;
}

export const upstreamGroup = (group: string): string => `upstream.${group}`;

export async function upstreamCrds(): Promise<UpstreamCrds> {
  const core = await readCrds(await download(CORE), CORE_FOLDERS);
  const override = process.env[AZURE_OVERRIDE];
  try {
    const azure =
      override === undefined ? await readCrds(await download(AZURE), AZURE_FOLDERS) : await readCrds(override, ['']);
    const names = new Set(azure.map((crd) => crd.metadata.name));
    const rest = core.filter((crd) => !names.has(crd.metadata.name));
    return { crds: [...azure, ...rest].map(moved) };
  } catch (error) {
    if (!(error instanceof DownloadError)) throw error;
    return { crds: core.map(withAzureRules).map(moved), withoutAzure: error.message };
  }
}

class DownloadError extends Error {}

async function download(module: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'nodewright-upstream-'));
  try {
    await writeFile(join(folder, 'go.mod'), 'module upstream\n\ngo 1.24\n');
    const { stdout } = await promisify(execFile)('go', ['mod', 'download', '-json', module], { cwd: folder }).catch(
      (error: { stdout?: string; message: string }) => {
        if (error.stdout === undefined || error.stdout === '')
          throw new DownloadError(`go mod download: ${error.message}`);
        return { stdout: error.stdout };
      },
    );
    const answer = JSON.parse(stdout) as { Dir?: string; Error?: string };
    if (answer.Dir === undefined) throw new DownloadError(answer.Error ?? `${module} was not downloaded`);
    return answer.Dir;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function readCrds(root: string, folders: readonly string[]): Promise<CustomResourceDefinition[]> {
  const found: CustomResourceDefinition[] = [];
  for (const folder of folders) {
    for (const name of await readdir(join(root, folder))) {
      if (!name.endsWith('.yaml')) continue;
      found.push(parseYaml(await readFile(join(root, folder, name), 'utf8')) as CustomResourceDefinition);
    }
  }
  return found;
}

function moved(crd: CustomResourceDefinition): CustomResourceDefinition {
  const group = upstreamGroup(crd.spec.group);
  return { ...crd, metadata: { name: `${crd.spec.names.plural}.${group}` }, spec: { ...crd.spec, group } };
}

const AZURE_KEYS =
  'aksnodeclass sku-name sku-family sku-series sku-version sku-cpu sku-memory sku-networking-accelerated sku-storage-premium-capable sku-storage-ultra-ssd sku-storage-ephemeralos-maxsize sku-gpu-name sku-gpu-manufacturer sku-gpu-count placement-scope';
const AKS_KEYS =
  'mode scalesetpriority priority fips_enabled os-sku cluster sku-cpu sku-memory ebpf-dataplane ebpf-host-routing network-policy hostedvm';
const LEGACY_KEYS = ['agentpool', 'storageprofile', 'storagetier', 'accelerator'];

interface Schema {
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema | boolean;
  'x-kubernetes-validations'?: { rule: string; message?: string }[];
}

/** What the Azure provider's build adds to the core definitions, for when its own files cannot be had. */
function withAzureRules(crd: CustomResourceDefinition): CustomResourceDefinition {
  const copy = structuredClone(crd);
  if (copy.spec.group !== 'karpenter.sh') return copy;
  for (const version of copy.spec.versions) inject(version.schema?.openAPIV3Schema as Schema);
  return copy;
}

function inject(schema: Schema): void {
  const labels = schema.properties?.['metadata']?.properties?.['labels'];
  labels?.['x-kubernetes-validations']?.push(...azureRules('k').map(({ rule }) => ({ rule: `self.all(k, ${rule})` })));
  const key = schema.properties?.['requirements']?.items?.properties?.['key'];
  key?.['x-kubernetes-validations']?.push(...azureRules('self'));
  for (const inner of Object.values(schema.properties ?? {})) inject(inner);
}

function azureRules(key: string): { rule: string }[] {
  const domain = (name: string, keys: string) => {
    const allowed = keys.split(' ').map((each) => `'${name}/${each}'`);
    return { rule: `${key} in [${allowed.join(', ')}] || !${key}.find('^([^/]+)').endsWith('${name}')` };
  };
  return [
    domain('karpenter.azure.com', AZURE_KEYS),
    domain('kubernetes.azure.com', AKS_KEYS),
    ...LEGACY_KEYS.map((each) => ({ rule: `${key} != '${each}'` })),
  ];
}
