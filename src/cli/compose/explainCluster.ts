/** The composition root of `nodewright explain`. */
import { InvariantError } from '../../errors/invariantError.ts';
import { Kinds } from '../../api/kinds.ts';
import { apiVersionOf, type KubeObject, type ResourceKind } from '../../api/object.ts';
import { BUNDLED_REGIONS } from '../../catalogue/bundledCatalogue.ts';
import { Labels } from '../../api/labels.ts';
import { SystemClock } from '../../clock/systemClock.ts';
import { systemRandom } from '../../clock/systemRandom.ts';
import { NodewrightError } from '../../errors/nodewrightError.ts';
import { explainPod } from '../../explain/explainPod.ts';
import { podSource } from '../../explain/podSource.ts';
import { HttpKube } from '../../kube/httpKube.ts';
import { defaultClusterConfig } from '../../kube/inCluster.ts';
import type { Kube, ObjectRef } from '../../kube/kube.ts';
import type { ExplainedFix, Explanation, ObjectName } from '../../ledger/explanation.ts';
import { podKey } from '../../pods/podKey.ts';
import { catalogueCloud, type CatalogueCloudOptions } from './catalogueCloud.ts';
import { lookAtCluster } from './clusterLook.ts';
import { missingKinds } from './missingKinds.ts';
import { startError } from './startError.ts';

const NODE_CLASSES: readonly ResourceKind<KubeObject>[] = [Kinds.AKSNodeClass, Kinds.KWOKNodeClass];
const NEEDED: readonly ResourceKind<KubeObject>[] = [Kinds.NodePool, Kinds.NodeClaim, ...NODE_CLASSES];

export interface Connection {
  readonly kube: Kube;
  readonly namespace: string;
}

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

export async function explainPodOf(
  { kube }: Connection,
  ref: ObjectRef & { readonly namespace: string },
  catalogue: Omit<CatalogueCloudOptions, 'nodeClasses'>,
): Promise<Explanation> {
  const [missing, region = catalogue.region] = await Promise.all([missingKinds(kube, NEEDED), regionOfCluster(kube)]);
  const nodeClasses = NODE_CLASSES.filter((kind) => !missing.includes(kind));
  const absent = nodeClasses.length === 0 ? missing : missing.filter((kind) => !NODE_CLASSES.includes(kind));
  if (absent.length > 0) {
    throw new NodewrightError('MissingCrds', { crds: absent.map(({ plural, group }) => `${plural}.${group}`) });
  }
  const cloud = catalogueCloud({ ...catalogue, nodeClasses, region });
  return lookAtCluster({ kube, cloud }, async ({ world, moment }) => {
    const pod = world.cluster.pod(ref);
    if (pod === undefined) throw new NodewrightError('ObjectNotFound', { kind: 'pod', ...ref });
    const overlay = { pods: moment.demand.waiting };
    const options = { explainChoices: false };
    const objection = moment.demand.ignored.find((each) => podKey(each.pod) === podKey(pod))?.objection;
    return explainPod({
      pod,
      source: await podSource(kube, pod),
      ...(objection && { objection }),
      asked: {
        pools: moment.offers,
        overlay,
        options,
        solution: moment.ask(overlay, options),
        ask: (again, how, pools) => moment.ask(again, how, pools),
      },
    });
  });
}

/** The region that the nodes say they are in, if prices of it are known. */
async function regionOfCluster(kube: Kube): Promise<string | undefined> {
  const { items } = await kube.list(Kinds.Node, { limit: 20 });
  const regions = items.map(({ metadata }) => metadata.labels?.[Labels.region] ?? '');
  return regions.find((region) => BUNDLED_REGIONS.includes(region));
}

/** Patches every object of the fix, and says which. */
export async function applyFix(kube: Kube, { patches }: ExplainedFix): Promise<readonly string[]> {
  const done: string[] = [];
  for (const { target, patch } of patches) {
    const { name, namespace } = target;
    await kube.patch(kindOf(target), { name, namespace }, { type: 'merge', body: patch });
    done.push(`${target.kind.toLowerCase()}/${name} patched`);
  }
  return done;
}

function kindOf(target: ObjectName): ResourceKind<KubeObject> {
  const kinds: readonly ResourceKind<KubeObject>[] = Object.values(Kinds);
  const kind = kinds.find((each) => each.kind === target.kind && apiVersionOf(each) === target.apiVersion);
  if (kind === undefined) throw new InvariantError(`no kind ${target.apiVersion} ${target.kind}`);
  return kind;
}
