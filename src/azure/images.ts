/**
 * Node images: the newest of the community galleries for a class's image family, FIPS mode, Trusted Launch and
 * Kubernetes version, best first, each with the instance types that it boots.
 */
import type { ComputeManagementClient } from '@azure/arm-compute';
import type { AksNodeClass } from '../api/kinds/aksNodeClass.ts';
import { Labels } from '../api/labels.ts';
import type { Clock } from '../clock/clock.ts';
import type { InstanceType } from '../cloud/instanceType.ts';
import { Requirements } from '../constraints/requirements.ts';
import { trustedLaunchEnabled } from '../catalogue/nodeSettings.ts';

export type NodeImage = NonNullable<NonNullable<AksNodeClass['status']>['images']>[number];
export type ConcreteFamily = 'Ubuntu2004' | 'Ubuntu2204' | 'Ubuntu2404' | 'AzureLinux2' | 'AzureLinux3';

interface ImageDefinition {
  readonly name: string;
  readonly architecture: 'amd64' | 'arm64';
  readonly generation: '1' | '2';
}

const UBUNTU_GALLERY = 'AKSUbuntu-38d80f77-467a-481f-a8d4-09b6d4220bd2';
const AZURE_LINUX_GALLERY = 'AKSAzureLinux-f7c7cda5-1c9a-4bdc-a222-9614c968580b';
const KEPT_FOR = 3 * 24 * 60 * 60 * 1000;
const MAX_KEPT = 64;

const gen2 = (name: string): ImageDefinition => ({ name, architecture: 'amd64', generation: '2' });
const gen1 = (name: string): ImageDefinition => ({ name, architecture: 'amd64', generation: '1' });
const arm = (name: string): ImageDefinition => ({ name, architecture: 'arm64', generation: '2' });

/** In order of preference. FIPS images are in no community gallery. */
const DEFINITIONS: Readonly<
  Record<ConcreteFamily, { readonly normal: readonly ImageDefinition[]; readonly trusted: readonly ImageDefinition[] }>
> = {
  Ubuntu2004: { normal: [], trusted: [] },
  Ubuntu2204: {
    normal: [gen2('2204gen2containerd'), gen1('2204containerd'), arm('2204gen2arm64containerd')],
    trusted: [gen2('2204gen2TLcontainerd')],
  },
  Ubuntu2404: {
    normal: [gen2('2404gen2containerd'), gen1('2404containerd'), arm('2404gen2arm64containerd')],
    trusted: [gen2('2404gen2TLcontainerd')],
  },
  AzureLinux2: { normal: [gen2('V2gen2'), gen1('V2'), arm('V2gen2arm64')], trusted: [gen2('V2gen2TL')] },
  AzureLinux3: { normal: [gen2('V3gen2'), gen1('V3'), arm('V3gen2arm64')], trusted: [gen2('V3gen2TL')] },
};

/** Which release a class gets. */
export function concreteFamily(nodeClass: AksNodeClass, kubernetesVersion: string): ConcreteFamily {
  const fips = nodeClass.spec?.fipsMode === 'FIPS';
  const trusted = trustedLaunchEnabled(nodeClass);
  const family = nodeClass.spec?.imageFamily ?? 'Ubuntu';
  if (family === 'AzureLinux') return atLeastMinor(kubernetesVersion, 32) ? 'AzureLinux3' : 'AzureLinux2';
  if (family !== 'Ubuntu') return family;
  if (fips) return trusted ? 'Ubuntu2204' : 'Ubuntu2004';
  return !trusted && atLeastMinor(kubernetesVersion, 34) ? 'Ubuntu2404' : 'Ubuntu2204';
}

/** Whether a version is 1.`minor` or later; one that cannot be read is not. */
export function atLeastMinor(version: string, minor: number): boolean {
  const match = /^v?(\d+)\.(\d+)/.exec(version);
  if (match === null) return false;
  const major = Number(match[1]);
  return major > 1 || (major === 1 && Number(match[2]) >= minor);
}

export class Images {
  private readonly compute: ComputeManagementClient;
  private readonly location: string;
  private readonly clock: Clock;
  private readonly kept = new Map<string, { readonly images: readonly NodeImage[]; readonly until: number }>();

  constructor(compute: ComputeManagementClient, location: string, clock: Clock) {
    this.compute = compute;
    this.location = location;
    this.clock = clock;
  }

  /** The newest of each definition. A version of Kubernetes that was not asked for before looks afresh. */
  async newest(
    nodeClass: AksNodeClass,
    kubernetesVersion: string,
    signal?: AbortSignal,
  ): Promise<readonly NodeImage[]> {
    const family = concreteFamily(nodeClass, kubernetesVersion);
    const trusted = trustedLaunchEnabled(nodeClass);
    const key = `${family}/${trusted}/${kubernetesVersion}`;
    const known = this.kept.get(key);
    if (known !== undefined && known.until > this.clock.now()) return known.images;
    const gallery = family.startsWith('Ubuntu') ? UBUNTU_GALLERY : AZURE_LINUX_GALLERY;
    const definitions = DEFINITIONS[family][trusted ? 'trusted' : 'normal'];
    const images: NodeImage[] = [];
    for (const definition of definitions) {
      const version = await this.newestVersion(gallery, definition.name, signal);
      if (version !== undefined) images.push(imageOf(gallery, definition, version));
    }
    if (this.kept.size >= MAX_KEPT) this.kept.clear();
    this.kept.set(key, { images, until: this.clock.now() + KEPT_FOR });
    return images;
  }

  private async newestVersion(
    gallery: string,
    definition: string,
    signal: AbortSignal | undefined,
  ): Promise<string | undefined> {
    let newest: { readonly name: string; readonly published: number } | undefined;
    const versions = this.compute.communityGalleryImageVersions.list(
      this.location,
      gallery,
      definition,
      signal === undefined ? {} : { abortSignal: signal },
    );
    for await (const version of versions) {
      const published = version.publishedDate?.getTime() ?? 0;
      if (version.name !== undefined && (newest === undefined || published > newest.published)) {
        newest = { name: version.name, published };
      }
    }
    return newest?.name;
  }
}

/** The first image that a machine of this type can boot. */
export function selectImage(images: readonly NodeImage[], type: InstanceType): NodeImage | undefined {
  return images.find((image) =>
    type.requirements.isCompatible(
      Requirements.fromItems(
        image.requirements.map(({ key, values }) => ({ key, operator: 'In' as const, values: values ?? [] })),
      ),
    ),
  );
}

function imageOf(gallery: string, definition: ImageDefinition, version: string): NodeImage {
  return {
    id: `/CommunityGalleries/${gallery}/images/${definition.name}/versions/${version}`,
    // Shorter keys first: the order in which AKS writes them.
    requirements: [
      { key: Labels.arch, operator: 'In', values: [definition.architecture] },
      { key: Labels.skuHyperVGeneration, operator: 'In', values: [definition.generation] },
    ],
  };
}
