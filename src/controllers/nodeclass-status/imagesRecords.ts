/** Effect of new images, or of images that would be used, on a class and its running nodes. */
import type { AksNodeClass, AksNodeClassStatus } from '../../api/kinds/aksNodeClass.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import { versionsOf, type ImagesPreview } from '../../azure/classImages.ts';
import { pinnedVersion, type NodeImage } from '../../azure/images.ts';
import type { ImagesRecord } from '../../ledger/record.ts';

type Images = readonly NodeImage[];

/** Empty when the images do not change. */
export function imagesChange(
  nodeClass: AksNodeClass,
  status: AksNodeClassStatus,
  claims: readonly NodeClaim[],
): ImagesRecord | undefined {
  const [before, after] = [nodeClass.status?.images ?? [], status.images ?? []];
  if (after.length === 0 || idsOf(before).join() === idsOf(after).join()) return undefined;
  return { ...recordOf(nodeClass, before, after, claims), when: 'now', pinned: pinnedVersion(nodeClass) !== undefined };
}

export function previewRecord(
  nodeClass: AksNodeClass,
  status: AksNodeClassStatus,
  { when, version, images }: ImagesPreview,
  claims: readonly NodeClaim[],
): ImagesRecord {
  const isMissing = version !== undefined && images.length === 0;
  return {
    ...recordOf(nodeClass, status.images ?? [], images, claims),
    when,
    pinned: when === 'pinned',
    ...(isMissing && { missing: version }),
  };
}

function recordOf(nodeClass: AksNodeClass, before: Images, after: Images, claims: readonly NodeClaim[]) {
  const booted = claims.map((claim) => claim.status?.imageID ?? '').filter((image) => image !== '');
  const ids = idsOf(after);
  return {
    kind: 'images',
    nodeClass: nodeClass.metadata.name,
    from: versionsOf(before),
    to: versionsOf(after),
    drifting: booted.filter((image) => !ids.some((id) => isImage(id, image))).length,
    claims: claims.length,
  } as const;
}

/** AKS names images of its machines differently: gallery, definition and version joined by dashes. */
function isImage(id: string, booted: string): boolean {
  const [, definition = '', version = ''] = /\/images\/([^/]+)\/versions\/([^/]+)$/.exec(id) ?? [];
  return id === booted || booted.endsWith(`-${definition}-${version}`);
}

function idsOf(images: Images): readonly string[] {
  return images.map(({ id }) => id);
}
