/**
 * Node images: the newest of the community or shared galleries for a class's image family, FIPS mode, Trusted Launch
 * and Kubernetes version, best first, each with the instance types that can boot it.
 */
import type { AksNodeClass } from '../api/kinds/aksNodeClass.ts';
import { Annotations, Labels } from '../api/labels.ts';
import type { Clock } from '../clock/clock.ts';
import type { InstanceType } from '../cloud/instanceType.ts';
import { Requirements } from '../constraints/requirements.ts';
import { trustedLaunchEnabled } from '../catalogue/nodeSettings.ts';
import type { AzureClients } from './clients.ts';

export type NodeImage = NonNullable<NonNullable<AksNodeClass['status']>['images']>[number];
export type ConcreteFamily = 'Ubuntu2004' | 'Ubuntu2204' | 'Ubuntu2404' | 'AzureLinux2' | 'AzureLinux3';

interface ImageDefinition {
  readonly name: string;
  readonly architecture: 'amd64' | 'arm64';
  readonly generation: '1' | '2';
  /** Its name at the node bootstrapping server. */
  readonly distro: string;
}

interface Gallery {
  /** Public name of its community gallery. */
  readonly community: string;
  /** Name of its shared gallery. */
  readonly shared: string;
  readonly resourceGroup: string;
}

const UBUNTU: Gallery = {
  community: 'AKSUbuntu-38d80f77-467a-481f-a8d4-09b6d4220bd2',
  shared: 'AKSUbuntu',
  resourceGroup: 'AKS-Ubuntu',
};
const AZURE_LINUX: Gallery = {
  community: 'AKSAzureLinux-f7c7cda5-1c9a-4bdc-a222-9614c968580b',
  shared: 'AKSAzureLinux',
  resourceGroup: 'AKS-AzureLinux',
};
/** Releases are about weekly; a cached answer must not outlive a maintenance window. */
const KEPT_FOR = 60 * 60 * 1000;
const MAX_KEPT = 64;
const NODE_IMAGES_API = '2025-10-02-preview';

const gen2 = (name: string, distro: string): ImageDefinition => ({
  name,
  architecture: 'amd64',
  generation: '2',
  distro,
});
const gen1 = (name: string, distro: string): ImageDefinition => ({
  name,
  architecture: 'amd64',
  generation: '1',
  distro,
});
const arm = (name: string, distro: string): ImageDefinition => ({
  name,
  architecture: 'arm64',
  generation: '2',
  distro,
});

type Kind = 'normal' | 'trusted' | 'fips' | 'fipsTrusted';

const ubuntu = (
  release: string,
  dotted: string,
): Readonly<Record<'normal' | 'trusted', readonly ImageDefinition[]>> => ({
  normal: [
    gen2(`${release}gen2containerd`, `aks-ubuntu-containerd-${dotted}-gen2`),
    gen1(`${release}containerd`, `aks-ubuntu-containerd-${dotted}`),
    arm(`${release}gen2arm64containerd`, `aks-ubuntu-arm64-containerd-${dotted}-gen2`),
  ],
  trusted: [gen2(`${release}gen2TLcontainerd`, `aks-ubuntu-containerd-${dotted}-tl-gen2`)],
});

const azureLinux = (version: string): Readonly<Record<'normal' | 'trusted', readonly ImageDefinition[]>> => ({
  normal: [
    gen2(`${version}gen2`, `aks-azurelinux-${version.toLowerCase()}-gen2`),
    gen1(version, `aks-azurelinux-${version.toLowerCase()}`),
    arm(`${version}gen2arm64`, `aks-azurelinux-${version.toLowerCase()}-arm64-gen2`),
  ],
  trusted: [gen2(`${version}gen2TL`, `aks-azurelinux-${version.toLowerCase()}-gen2-tl`)],
});

/** In order of preference. FIPS images are only in the shared galleries. */
const DEFINITIONS: Readonly<Record<ConcreteFamily, Readonly<Record<Kind, readonly ImageDefinition[]>>>> = {
  Ubuntu2004: {
    normal: [],
    trusted: [],
    fips: [
      gen2('2004gen2fipscontainerd', 'aks-ubuntu-fips-containerd-20.04-gen2'),
      gen1('2004fipscontainerd', 'aks-ubuntu-fips-containerd-20.04'),
    ],
    fipsTrusted: [],
  },
  Ubuntu2204: {
    ...ubuntu('2204', '22.04'),
    fips: [],
    fipsTrusted: [gen2('2204gen2fipsTLcontainerd', 'aks-ubuntu-fips-containerd-22.04-tl-gen2')],
  },
  Ubuntu2404: { ...ubuntu('2404', '24.04'), fips: [], fipsTrusted: [] },
  AzureLinux2: {
    ...azureLinux('V2'),
    fips: [gen2('V2gen2fips', 'aks-azurelinux-v2-gen2-fips'), gen1('V2fips', 'aks-azurelinux-v2-fips')],
    fipsTrusted: [],
  },
  AzureLinux3: {
    ...azureLinux('V3'),
    fips: [
      gen2('V3gen2fips', 'aks-azurelinux-v3-gen2-fips'),
      gen1('V3fips', 'aks-azurelinux-v3-fips'),
      arm('V3gen2arm64fips', 'aks-azurelinux-v3-arm64-gen2-fips'),
    ],
    fipsTrusted: [],
  },
};

const DISTROS: ReadonlyMap<string, string> = new Map(
  Object.values(DEFINITIONS)
    .flatMap((kinds) => Object.values(kinds).flat())
    .map(({ name, distro }) => [name.toLowerCase(), distro]),
);

/** An image's name at the node bootstrapping server. */
export function distroOf(imageId: string): string {
  const [, definition = ''] = /\/images\/([^/]+)\/versions\//i.exec(imageId) ?? [];
  return DISTROS.get(definition.toLowerCase()) ?? '';
}

/** The OS release of a class. */
export function concreteFamily(nodeClass: AksNodeClass, kubernetesVersion: string): ConcreteFamily {
  const fips = nodeClass.spec?.fipsMode === 'FIPS';
  const trusted = trustedLaunchEnabled(nodeClass);
  const family = nodeClass.spec?.imageFamily ?? 'Ubuntu';
  if (family === 'AzureLinux') return atLeastMinor(kubernetesVersion, 32) ? 'AzureLinux3' : 'AzureLinux2';
  if (family !== 'Ubuntu') return family;
  if (fips) return trusted ? 'Ubuntu2204' : 'Ubuntu2004';
  return !trusted && atLeastMinor(kubernetesVersion, 34) ? 'Ubuntu2404' : 'Ubuntu2204';
}

/** Images of Ubuntu 20.04, still used only for FIPS, have no DNS cache. */
export function isWithoutDnsCache(nodeClass: AksNodeClass): boolean {
  // Independent of the Kubernetes version.
  return concreteFamily(nodeClass, '') === 'Ubuntu2004';
}

/** Whether a version is 1.`minor` or later; false if it cannot be parsed. */
export function atLeastMinor(version: string, minor: number): boolean {
  const match = /^v?(\d+)\.(\d+)/.exec(version);
  if (match === null) return false;
  const major = Number(match[1]);
  return major > 1 || (major === 1 && Number(match[2]) >= minor);
}

/** The subscription of the shared galleries; absent: images come from the community galleries. */
export interface SharedGalleries {
  readonly subscriptionId: string;
}

export interface ImagesOptions {
  readonly clients: Pick<AzureClients, 'compute' | 'rest'>;
  readonly subscriptionId: string;
  readonly location: string;
  readonly clock: Clock;
  readonly shared?: SharedGalleries | undefined;
}

interface NodeImageVersion {
  readonly os?: string;
  readonly sku?: string;
  readonly version?: string;
}

export class Images {
  private readonly options: ImagesOptions;
  private readonly kept = new Map<string, { readonly images: readonly NodeImage[]; readonly until: number }>();

  constructor(options: ImagesOptions) {
    this.options = options;
  }

  /** Whether FIPS images are available. */
  get hasFips(): boolean {
    return this.options.shared !== undefined;
  }

  /**
   * The newest image of each definition, or version `pin` of those that have it. A Kubernetes version that is requested
   * for the first time bypasses the cache.
   */
  async wanted(
    nodeClass: AksNodeClass,
    kubernetesVersion: string,
    pin?: string,
    signal?: AbortSignal,
  ): Promise<readonly NodeImage[]> {
    const { clock, shared } = this.options;
    const family = concreteFamily(nodeClass, kubernetesVersion);
    const kind = kindOf(nodeClass);
    const key = `${family}/${kind}/${kubernetesVersion}/${pin ?? ''}`;
    const known = this.kept.get(key);
    if (known !== undefined && known.until > clock.now()) return known.images;
    const gallery = family.startsWith('Ubuntu') ? UBUNTU : AZURE_LINUX;
    const definitions = DEFINITIONS[family][kind];
    const images =
      shared === undefined
        ? await this.fromCommunity(gallery, definitions, pin, signal)
        : await this.fromShared(shared, gallery, definitions, pin, signal);
    if (this.kept.size >= MAX_KEPT) this.kept.clear();
    this.kept.set(key, { images, until: clock.now() + KEPT_FOR });
    return images;
  }

  private async fromCommunity(
    { community }: Gallery,
    definitions: readonly ImageDefinition[],
    pin: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<readonly NodeImage[]> {
    const images: NodeImage[] = [];
    for (const definition of definitions) {
      const version = await this.versionOf(community, definition.name, pin, signal);
      if (version !== undefined) images.push(imageOf(`/CommunityGalleries/${community}`, definition, version));
    }
    return images;
  }

  /** AKS lists the supported versions; a definition without one is left out. */
  private async fromShared(
    shared: SharedGalleries,
    gallery: Gallery,
    definitions: readonly ImageDefinition[],
    pin: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<readonly NodeImage[]> {
    const { clients, subscriptionId, location } = this.options;
    const versions = await clients.rest.list<NodeImageVersion>(
      {
        method: 'GET',
        path: `/subscriptions/${subscriptionId}/providers/Microsoft.ContainerService/locations/${location}/nodeImageVersions`,
        apiVersion: NODE_IMAGES_API,
      },
      signal,
    );
    const galleryId = `/subscriptions/${shared.subscriptionId}/resourceGroups/${gallery.resourceGroup}/providers/Microsoft.Compute/galleries/${gallery.shared}`;
    return definitions.flatMap((definition) => {
      let newest: string | undefined;
      for (const { os, sku, version } of versions) {
        if (os !== gallery.shared || sku !== definition.name || version === undefined) continue;
        if (pin !== undefined && version !== pin) continue;
        if (newest === undefined || isNewerImage(version, newest)) newest = version;
      }
      return newest === undefined ? [] : [imageOf(galleryId, definition, newest)];
    });
  }

  private async versionOf(
    gallery: string,
    definition: string,
    pin: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<string | undefined> {
    let newest: { readonly name: string; readonly published: number } | undefined;
    const versions = this.options.clients.compute.communityGalleryImageVersions.list(
      this.options.location,
      gallery,
      definition,
      signal === undefined ? {} : { abortSignal: signal },
    );
    for await (const version of versions) {
      if (pin !== undefined && version.name !== pin) continue;
      const published = version.publishedDate?.getTime() ?? 0;
      if (version.name !== undefined && (newest === undefined || published > newest.published)) {
        newest = { name: version.name, published };
      }
    }
    return newest?.name;
  }
}

/** The version to which the class is pinned, if any. */
export function pinnedVersion({ metadata }: AksNodeClass): string | undefined {
  const pin = metadata.annotations?.[Annotations.imageVersion]?.trim() ?? '';
  return pin === '' ? undefined : pin;
}

function kindOf(nodeClass: AksNodeClass): Kind {
  const trusted = trustedLaunchEnabled(nodeClass);
  if (nodeClass.spec?.fipsMode === 'FIPS') return trusted ? 'fipsTrusted' : 'fips';
  return trusted ? 'trusted' : 'normal';
}

/**
 * Versions are compared number by number; one that cannot be parsed is not newer, and the longer of two equal ones is.
 */
export function isNewerImage(version: string, than: string): boolean {
  const [left, right] = [version.split('.').map(Number), than.split('.').map(Number)];
  for (let index = 0; index < Math.min(left.length, right.length); index += 1) {
    const [one = Number.NaN, other = Number.NaN] = [left[index], right[index]];
    if (Number.isNaN(one) || Number.isNaN(other)) return false;
    if (one !== other) return one > other;
  }
  return left.length > right.length;
}

/** The first image that an instance of this type can boot. */
export function selectImage(images: readonly NodeImage[], type: InstanceType): NodeImage | undefined {
  return images.find((image) =>
    type.requirements.isCompatible(
      Requirements.fromItems(
        image.requirements.map(({ key, values }) => ({ key, operator: 'In' as const, values: values ?? [] })),
      ),
    ),
  );
}

function imageOf(galleryId: string, definition: ImageDefinition, version: string): NodeImage {
  return {
    id: `${galleryId}/images/${definition.name}/versions/${version}`,
    // Shorter keys first: AKS's order.
    requirements: [
      { key: Labels.arch, operator: 'In', values: [definition.architecture] },
      { key: Labels.skuHyperVGeneration, operator: 'In', values: [definition.generation] },
    ],
  };
}
