/** Changes for pods whose volume claim is missing or cannot be bound. */
import type { PersistentVolumeClaim, StorageClass } from '../api/kinds.ts';
import type { Patch } from '../ledger/explanation.ts';
import type { PodObjection } from '../ledger/objection.ts';
import type { PodChange } from '../ledger/podChange.ts';
import { canChange, hasTemplate } from './podFixes.ts';
import { manual, proposed, respecified, type PodPicture, type PodProposal } from './podProposal.ts';
import { patchOf } from './proposal.ts';
import { withEmptyDir, withEphemeralClass } from './specEdits.ts';

export function claimProposals(
  objection: PodObjection & { readonly kind: 'volume-claim' },
  picture: PodPicture,
): readonly PodProposal[] {
  const { claim } = objection;
  const { pod, storageClasses, volumeClaims } = picture;
  const { namespace = 'default', name } = pod.metadata;
  const stored = volumeClaims.find(({ metadata }) => metadata.name === claim && metadata.namespace === namespace);
  const usable = classFor(storageClasses);
  const proposals: PodProposal[] = [];
  if (objection.problem === 'no-storage-class' && stored?.spec?.storageClassName === undefined && usable) {
    const target = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name: claim };
    const change: PodChange = { kind: 'claim-class', claim, storageClass: usable };
    proposals.push(proposed(picture, change, [patchOf(target, { spec: { storageClassName: usable } })]));
  }
  const ephemeral = (pod.spec?.volumes ?? []).find((each) => each.ephemeral && `${name}-${each.name}` === claim);
  if (ephemeral !== undefined && usable !== undefined) {
    const change: PodChange = { kind: 'ephemeral-class', volume: ephemeral.name, storageClass: usable };
    proposals.push(respecified(picture, change, withEphemeralClass(ephemeral.name, usable)));
  }
  if (objection.problem === 'missing') proposals.push(...created(picture, 'PersistentVolumeClaim', claim));
  if (objection.problem === 'storage-class-missing') {
    proposals.push(...created(picture, 'StorageClass', objection.storageClass));
  }
  if (objection.problem === 'volume-missing') proposals.push(...created(picture, 'PersistentVolume', objection.volume));
  if ((objection.problem === 'lost' || objection.problem === 'volume-missing') && stored !== undefined)
    proposals.push(...remadeClaim(picture, stored));
  if (ephemeral !== undefined) return proposals;
  const emptied = respecified(picture, { kind: 'empty-dir', claim }, withEmptyDir(claim));
  const isUnmade = objection.problem === 'storage-class-missing' || objection.problem === 'no-storage-class';
  if (
    !isUnmade ||
    stored === undefined ||
    usable === undefined ||
    proposals.some(({ patches }) => patches.length > 0)
  ) {
    return [...proposals, emptied];
  }
  // It has no volume yet, so nothing is lost. One patch of the owner is a smaller change than an object made again.
  const remade = remadeClaim(picture, stored, usable);
  return hasTemplate(picture.source) ? [...proposals, emptied, ...remade] : [...proposals, ...remade, emptied];
}

/** The volume is gone with its data, or was never there: the same claim, made again, gets a new one. */
function remadeClaim(
  picture: PodPicture,
  { metadata, spec }: PersistentVolumeClaim,
  storageClass?: string,
): readonly PodProposal[] {
  const { namespace = 'default', name, labels } = metadata;
  // A snapshot may have dropped some of these fields.
  if (spec?.resources === undefined || spec.accessModes === undefined) return [];
  const { volumeName: _, ...wanted } = spec;
  const target = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name };
  const manifest = {
    apiVersion: target.apiVersion,
    kind: target.kind,
    metadata: { name, namespace, ...(labels && { labels }) },
    spec: { ...wanted, ...(storageClass !== undefined && { storageClassName: storageClass }) },
  };
  const patches: readonly Patch[] = [
    { target, type: 'delete', patch: {} },
    { target, type: 'create', patch: manifest },
  ];
  const change: PodChange = { kind: 'remake-claim', claim: name, ...(storageClass !== undefined && { storageClass }) };
  return [proposed(picture, change, patches)];
}

/** The default class, else another one, of those with WaitForFirstConsumer. */
function classFor(classes: readonly StorageClass[]): string | undefined {
  const waiting = classes.filter(({ volumeBindingMode }) => volumeBindingMode === 'WaitForFirstConsumer');
  const isDefault = ({ metadata }: StorageClass): boolean =>
    metadata.annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true';
  return (waiting.find(isDefault) ?? waiting[0])?.metadata.name;
}

/** Only helps when the pod itself cannot be changed. */
const created = (picture: PodPicture, what: string, name: string): readonly PodProposal[] =>
  canChange(picture.source) ? [] : [manual(picture, { kind: 'create', what, name })];
