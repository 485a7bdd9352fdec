/** What a new set of images does to a class and to the nodes that run: none when nothing changes. */
import type { AksNodeClass, AksNodeClassStatus } from '../../api/kinds/aksNodeClass.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import { pinnedVersion } from '../../azure/images.ts';
import type { ImagesRecord } from '../../ledger/record.ts';

type Images = AksNodeClassStatus['images'];

export function imagesChange(
  nodeClass: AksNodeClass,
  status: AksNodeClassStatus,
  claims: readonly NodeClaim[],
): ImagesRecord | undefined {
  const [before, after] = [idsOf(nodeClass.status?.images), idsOf(status.images)];
  if (after.length === 0 || before.join() === after.join()) return undefined;
  const booted = claims.map((claim) => claim.status?.imageID ?? '').filter((image) => image !== '');
  return {
    kind: 'images',
    nodeClass: nodeClass.metadata.name,
    from: versionsOf(before),
    to: versionsOf(after),
    pinned: pinnedVersion(nodeClass) !== undefined,
    drifting: booted.filter((image) => !after.some((id) => isImage(id, image))).length,
    claims: claims.length,
  };
}

/** AKS names images of machines of its own in another way: gallery, definition and version with dashes. */
function isImage(id: string, booted: string): boolean {
  const [, definition = '', version = ''] = /\/images\/([^/]+)\/versions\/([^/]+)$/.exec(id) ?? [];
  return id === booted || booted.endsWith(`-${definition}-${version}`);
}

function idsOf(images: Images): readonly string[] {
  return (images ?? []).map(({ id }) => id);
}

function versionsOf(ids: readonly string[]): readonly string[] {
  return [...new Set(ids.map((id) => id.split('/').at(-1) ?? ''))];
}
