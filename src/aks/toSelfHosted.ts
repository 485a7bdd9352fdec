/**
 * From AKS node auto-provisioning to a self-hosted nodewright. AKS cannot do this in place: it sets the mode to Manual
 * only when no nodes are left, so every node is drained. Offered only where this loses no data.
 */
import { Kinds, type Pod } from '../api/kinds.ts';
import { Labels } from '../api/labels.ts';
import { NodewrightError } from '../errors/nodewrightError.ts';
import { disableSteps, type DisableOptions } from './disable.ts';
import { enableSteps, type AksContext, type EnableOptions } from './enable.ts';
import { readCluster } from './managedCluster.ts';
import type { Step } from './step.ts';

export interface SelfHostedOptions {
  readonly enable: EnableOptions;
  readonly disable: Omit<DisableOptions, 'keepIdentity'>;
  /** Pods may lose the data in their emptyDir volumes. */
  readonly deleteEmptyDirData: boolean;
}

/** Run again after a failure, it continues: once the mode is Manual, nothing is drained. */
export async function toSelfHostedSteps(context: AksContext, options: SelfHostedOptions): Promise<readonly Step[]> {
  const { arm, name } = context;
  const { properties } = await readCluster(arm, name);
  const enable = await enableSteps(context, { ...options.enable, defaultNodePools: 'None' });
  if (properties.nodeProvisioningProfile?.mode !== 'Auto') return enable;
  const lost = await podsThatLose(context, options.deleteEmptyDirData);
  if (lost.length > 0) throw new NodewrightError('DataWouldBeLost', { pods: lost });
  const leave = disableSteps(context, { ...options.disable, keepIdentity: true });
  return [...leave.filter(({ name: step }) => step !== 'nodewright'), ...enable];
}

/** Pods on nodes to be removed, and the data that each would lose. */
async function podsThatLose({ kube }: AksContext, allowsEmptyDir: boolean): Promise<readonly string[]> {
  const { items: nodes } = await kube.list(Kinds.Node, { labelSelector: Labels.nodePool });
  const leaving = new Set(nodes.map(({ metadata }) => metadata.name));
  const { items: claims } = await kube.list(Kinds.PersistentVolumeClaim);
  const { items: volumes } = await kube.list(Kinds.PersistentVolume);
  const local = new Set(
    volumes.flatMap(({ metadata, spec }) =>
      spec?.local !== undefined || spec?.hostPath !== undefined ? [metadata.name] : [],
    ),
  );
  const localClaims = new Set(
    claims.flatMap(({ metadata, spec }) =>
      local.has(spec?.volumeName ?? '') ? [`${metadata.namespace}/${metadata.name}`] : [],
    ),
  );
  const { items: pods } = await kube.list(Kinds.Pod);
  return pods
    .filter(
      ({ spec, status }) => leaving.has(spec?.nodeName ?? '') && !['Succeeded', 'Failed'].includes(status?.phase ?? ''),
    )
    .flatMap((pod) => {
      const reasons = lossesOf(pod, localClaims, allowsEmptyDir);
      return reasons.length === 0 ? [] : [`${pod.metadata.namespace}/${pod.metadata.name} (${reasons.join(', ')})`];
    });
}

function lossesOf(
  { metadata, spec }: Pod,
  localClaims: ReadonlySet<string>,
  allowsEmptyDir: boolean,
): readonly string[] {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  // These belong to their node.
  if (owner?.kind === 'DaemonSet' || owner?.kind === 'Node') return [];
  const volumes = (spec?.volumes ?? []).flatMap(({ name, emptyDir, hostPath, persistentVolumeClaim }) => {
    if (emptyDir !== undefined && emptyDir.medium !== 'Memory' && !allowsEmptyDir) return [`emptyDir ${name}`];
    if (hostPath !== undefined) return [`hostPath ${name}`];
    const claim = `${metadata.namespace}/${persistentVolumeClaim?.claimName ?? ''}`;
    return localClaims.has(claim) ? [`local volume ${name}`] : [];
  });
  return owner === undefined ? ['no controller makes it again', ...volumes] : volumes;
}
