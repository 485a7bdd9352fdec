/** Converts manifests of Karpenter on another cloud to Azure. Everything that could not be taken over is reported. */
import { Groups } from '../api/labels.ts';
import type { JsonObject } from '../api/schema/json.ts';
import type { Change, Note } from './change.ts';
import { convertNodeClass } from './nodeClassConversion.ts';
import { convertNodePool, foreignLabels, record, textOf } from './nodePoolConversion.ts';

export interface Conversion {
  /** In order of application: classes, pools, then everything else in its original order. */
  readonly objects: readonly JsonObject[];
  readonly changes: readonly Change[];
}

const OLD_KINDS: ReadonlySet<string> = new Set(['Provisioner', 'AWSNodeTemplate', 'Machine']);

export function convertManifests(sources: readonly JsonObject[], { region }: { readonly region: string }): Conversion {
  const changes: Change[] = [];
  const noteFor = (source: JsonObject): Note => {
    const object = `${textOf(source['kind'])} ${textOf(record(source['metadata'])['name'])}`;
    return (change) => changes.push({ object, ...change });
  };
  const pools = sources.filter(isNodePool).map((source) => ({
    source,
    ...convertNodePool(source, { region, note: noteFor(source) }),
  }));
  const classes = sources.filter(isNodeClass).map((source) => {
    if (groupOf(source) === Groups.azure) return { ...source, apiVersion: `${Groups.azure}/v1beta1` };
    const name = textOf(record(source['metadata'])['name']);
    const kubelets = pools.flatMap(({ className, kubelet }) => (className === name && kubelet ? [kubelet] : []));
    return convertNodeClass(source, kubelets, noteFor(source));
  });
  const names = new Set(classes.map(({ metadata }) => textOf(record(metadata)['name'])));
  for (const { source, className } of pools) {
    if (names.has(className)) continue;
    noteFor(source)({
      field: 'spec.template.spec.nodeClassRef',
      outcome: 'left',
      from: className,
      why: 'its class is not among the manifests: write an AKSNodeClass of that name',
    });
  }
  const rest = sources.filter((source) => !isNodePool(source) && !isNodeClass(source));
  const others = rest.filter((source) => {
    const isOld = OLD_KINDS.has(textOf(source['kind'])) && groupOf(source).includes('karpenter');
    const why = 'this kind is older than v1beta1: convert it with Karpenter 0.37 first';
    if (isOld) noteFor(source)({ field: 'kind', outcome: 'dropped', from: textOf(source['apiVersion']), why });
    return !isOld;
  });
  for (const source of others) {
    for (const field of foreignLabels(source)) {
      noteFor(source)({ field, outcome: 'left', from: '', why: 'no node on Azure has this label' });
    }
  }
  return { objects: [...classes, ...pools.map(({ pool }) => pool), ...others], changes };
}

function groupOf(source: JsonObject): string {
  const [group = '', version] = textOf(source['apiVersion']).split('/');
  return version === undefined ? '' : group;
}

function isNodePool(source: JsonObject): boolean {
  return textOf(source['kind']) === 'NodePool' && groupOf(source) === Groups.karpenter;
}

/** `EC2NodeClass`, `GCENodeClass`, the `NodeClass` of EKS Auto Mode. */
function isNodeClass(source: JsonObject): boolean {
  return textOf(source['kind']).endsWith('NodeClass') && groupOf(source) !== Groups.kwok && groupOf(source) !== '';
}
