/** Images that a class boots now, and those that it would boot after the next maintenance window or when pinned. */
import type { AksNodeClass } from '../api/kinds/aksNodeClass.ts';
import { findCondition } from '../api/conditions.ts';
import { AksNodeClassConditions } from '../api/conditionTypes.ts';
import { Annotations } from '../api/labels.ts';
import { isNewerImage, pinnedVersion, type Images, type NodeImage } from './images.ts';

/** Images that a class does not boot yet. */
export interface ImagesPreview {
  /** They apply when the maintenance window opens, or would apply if the class were pinned to their version. */
  readonly when: 'window' | 'pinned';
  /** The version requested for preview; without images if Azure does not publish it. */
  readonly version?: string;
  readonly images: readonly NodeImage[];
}

export interface ClassImages {
  /** Empty: no image for the class is published. */
  readonly images: readonly NodeImage[];
  readonly previews: readonly ImagesPreview[];
}

export interface ImagesQuestion {
  readonly nodeClass: AksNodeClass;
  readonly kubernetesVersion: string;
  /** Whether the class had another Kubernetes version until now. */
  readonly isUpgrade: boolean;
  readonly isWindowOpen: () => boolean;
}

/**
 * The images to which the class is pinned. Otherwise the newest images for a class that is new or whose Kubernetes
 * version has changed, and for every class during maintenance. At other times images in use stay, and a new kind of
 * image uses its newest version.
 */
export async function classImages(
  catalogue: Images,
  { nodeClass, kubernetesVersion, isUpgrade, isWindowOpen }: ImagesQuestion,
  signal?: AbortSignal,
): Promise<ClassImages> {
  const pin = pinnedVersion(nodeClass);
  const published = await catalogue.wanted(nodeClass, kubernetesVersion, pin, signal);
  const previews: ImagesPreview[] = [];
  const asked = nodeClass.metadata.annotations?.[Annotations.previewImageVersion]?.trim() ?? '';
  if (asked !== '' && asked !== pin) {
    const images = await catalogue.wanted(nodeClass, kubernetesVersion, asked, signal);
    previews.push({ when: 'pinned', version: asked, images });
  }
  // A pin applies at once, without a maintenance window, and may select an older version.
  if (pin !== undefined || published.length === 0) return { images: published, previews };
  const isReady = findCondition(nodeClass, AksNodeClassConditions.imagesReady)?.status === 'True';
  const newest = forward(nodeClass, published);
  if (!isReady || isUpgrade || isWindowOpen()) return { images: newest, previews };
  const used = usedImages(nodeClass);
  const images = published.map((image) => used.get(baseOf(image.id)) ?? image);
  const isBehind = images.some(({ id }, index) => id !== newest[index]?.id);
  return { images, previews: isBehind ? [{ when: 'window', images: newest }, ...previews] : previews };
}

/** `published`, without images that would downgrade the class. */
function forward(nodeClass: AksNodeClass, published: readonly NodeImage[]): readonly NodeImage[] {
  const used = usedImages(nodeClass);
  return published.map((image) => {
    const present = used.get(baseOf(image.id));
    return present !== undefined && isNewerImage(versionOf(present.id), versionOf(image.id)) ? present : image;
  });
}

function usedImages({ status }: AksNodeClass): ReadonlyMap<string, NodeImage> {
  return new Map((status?.images ?? []).map((image) => [baseOf(image.id), image] as const));
}

/** Distinct versions. */
export function versionsOf(images: readonly NodeImage[]): readonly string[] {
  return [...new Set(images.map(({ id }) => versionOf(id)))];
}

function versionOf(imageId: string): string {
  return /\/versions\/([^/]+)$/.exec(imageId)?.[1] ?? '';
}

function baseOf(imageId: string): string {
  return imageId.replace(/\/versions\/[^/]+$/, '');
}
