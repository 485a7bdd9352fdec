/** Source of the cluster for commands that read one: its API server, or a snapshot file. */
import { Kinds } from '../../api/kinds.ts';
import { Labels } from '../../api/labels.ts';
import type { KubeObject, ResourceKind } from '../../api/object.ts';
import { BUNDLED_REGIONS } from '../../catalogue/bundledCatalogue.ts';
import { SystemClock } from '../../clock/systemClock.ts';
import { systemRandom } from '../../clock/systemRandom.ts';
import type { CloudProvider } from '../../cloud/cloudProvider.ts';
import { NodewrightError } from '../../errors/nodewrightError.ts';
import { messageOf } from '../../errors/thrown.ts';
import { KubeError } from '../../kube/errors.ts';
import { HttpKube } from '../../kube/httpKube.ts';
import { defaultClusterConfig } from '../../kube/inCluster.ts';
import type { Kube } from '../../kube/kube.ts';
import {
  kindKey,
  LOOP_KINDS,
  objectsOf,
  readObjects,
  type ClusterObjects,
  type ReadingOptions,
} from '../../rehearsal/clusterObjects.ts';
import { objectsKube } from '../../rehearsal/objectsKube.ts';
import { endOf, parseRecording, statesAt, type Recording } from '../../rehearsal/recording.ts';
import { catalogueCloud, type CatalogueCloudOptions } from './catalogueCloud.ts';
import { missingKinds } from './missingKinds.ts';
import { startError } from './startError.ts';

export const NODE_CLASSES: readonly ResourceKind<KubeObject>[] = [Kinds.AKSNodeClass, Kinds.KWOKNodeClass];

export interface Connection {
  readonly kube: Kube;
  /** Namespace of the kubeconfig's context. */
  readonly namespace: string;
}

/** A cluster for questions. */
export interface ClusterSource {
  readonly objects: ClusterObjects;
  /** The catalogue for the cluster's node classes and region. */
  readonly cloud: CloudProvider;
  /** For reading kinds that loops do not watch, such as owners of pods. */
  readonly kube: Kube;
  /** The recording; only from a file. */
  readonly recording?: Recording;
}

export type CatalogueChoice = Omit<CatalogueCloudOptions, 'nodeClasses'>;

export async function connect(flags: { readonly kubeconfig?: string; readonly context?: string }): Promise<Connection> {
  const { kubeconfig: path, context } = flags;
  const config = await defaultClusterConfig({ ...(path && { path }), ...(context && { context }) });
  const kube = new HttpKube({ config, clock: new SystemClock(), random: systemRandom });
  try {
    await kube.raw('/version');
  } catch (error) {
    throw startError(error, config.server);
  }
  return { kube, namespace: config.namespace ?? 'default' };
}

/** Which kinds and fields to read. */
export interface ReadingChoice extends Pick<ReadingOptions, 'keep'> {
  /** In addition to the node classes; default: what loops read. */
  readonly kinds?: readonly ResourceKind<KubeObject>[];
}

/** The cluster that a snapshot file holds. */
export function snapshotSource(file: string, text: string, catalogue: CatalogueChoice): ClusterSource {
  const recording = parseRecording(text);
  const [objects] = recording === undefined ? [] : statesAt(recording, [endOf(recording)]);
  if (objects === undefined) {
    throw new NodewrightError('FileInvalid', {
      file,
      purpose: 'snapshot',
      problems: ['it is not what `nodewright snapshot save` of this version writes'],
    });
  }
  const nodeClasses = NODE_CLASSES.filter((kind) => objects.kinds.has(kindKey(kind)));
  return {
    objects,
    cloud: cloudOf(objects, nodeClasses, catalogue),
    kube: objectsKube(objects),
    ...(recording && { recording }),
  };
}

/** Reads the cluster once. Fails if a kind does not exist or may not be read. */
export async function readCluster(
  kube: Kube,
  catalogue: CatalogueChoice,
  options: ReadingOptions & ReadingChoice & { readonly now?: number } = {},
): Promise<ClusterSource> {
  const missing = await missingKinds(kube, [Kinds.NodePool, Kinds.NodeClaim, ...NODE_CLASSES]);
  const nodeClasses = NODE_CLASSES.filter((kind) => !missing.includes(kind));
  const absent = nodeClasses.length === 0 ? missing : missing.filter((kind) => !NODE_CLASSES.includes(kind));
  if (absent.length > 0) {
    throw new NodewrightError('MissingCrds', { crds: absent.map(({ plural, group }) => `${plural}.${group}`) });
  }
  const kinds = [...(options.kinds ?? LOOP_KINDS), ...nodeClasses];
  try {
    const read = await readObjects(kube, kinds, options.now ?? Date.now(), options);
    if (options.now !== undefined) return { objects: read, cloud: cloudOf(read, nodeClasses, catalogue), kube };
    const objects = { ...read, time: Math.max(read.time, newestIn(read), await lastSignOfLife(read, kube)) };
    return { objects, cloud: cloudOf(objects, nodeClasses, catalogue), kube };
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    throw new NodewrightError('ClusterUnreadable', { problem: messageOf(error) }, { cause: error });
  }
}

/** Creation time of the newest object: the cluster's time may be ahead of ours, as with `up --speed`. */
function newestIn(objects: ClusterObjects): number {
  const made = [Kinds.Pod, Kinds.NodeClaim].flatMap((kind) => [...(objects.kinds.get(kindKey(kind)) ?? [])]);
  return made.reduce((newest, { metadata }) => Math.max(newest, Date.parse(metadata.creationTimestamp ?? '') || 0), 0);
}

/** Nodes whose leases are asked for. */
const MOST_LEASES = 3;

/** When a kubelet last said that it lives, in a cluster in which nothing else is new; 0 without the right to know. */
async function lastSignOfLife(objects: ClusterObjects, kube: Kube): Promise<number> {
  const times = objectsOf(objects, Kinds.Node)
    .slice(0, MOST_LEASES)
    .map(async ({ metadata: { name } }): Promise<number> => {
      try {
        const { spec } = await kube.get(Kinds.Lease, { namespace: 'kube-node-lease', name });
        return Date.parse(spec?.renewTime ?? '') || 0;
      } catch (error) {
        if (error instanceof KubeError) return 0;
        throw error;
      }
    });
  return Math.max(0, ...(await Promise.all(times)));
}

/** The catalogue for the cluster of these objects. */
function cloudOf(
  objects: ClusterObjects,
  nodeClasses: CloudProvider['nodeClasses'],
  catalogue: CatalogueChoice,
): CloudProvider {
  const regions = objectsOf(objects, Kinds.Node).map(({ metadata }) => metadata.labels?.[Labels.region] ?? '');
  const region = regions.find((each) => BUNDLED_REGIONS.includes(each)) ?? catalogue.region;
  return catalogueCloud({ ...catalogue, nodeClasses, region });
}

/** Milliseconds before the first progress line, and between two lines. */
const PATIENCE = 2_000;

/** Reports progress of reading a large cluster on standard error. */
export function progressOnStderr(): NonNullable<ReadingOptions['onProgress']> {
  let next = performance.now() + PATIENCE;
  return ({ objects }) => {
    if (performance.now() < next) return;
    next = performance.now() + PATIENCE;
    process.stderr.write(`reading the cluster: ${objects} objects so far\n`);
  };
}
