/** The AKS node images that the local Azure publishes: galleries, definitions and versions. */
export interface ImageDefinition {
  readonly name: string;
  readonly generation: 'V1' | 'V2';
  readonly architecture: 'x64' | 'Arm64';
  /** Published in the shared gallery but not in the community gallery. */
  readonly sharedOnly?: true;
}

export interface ImageGallery {
  /** Name of the shared gallery; node image versions give it as their operating system. */
  readonly name: string;
  readonly resourceGroup: string;
  /** Public name of the community gallery. */
  readonly community: string;
  readonly images: readonly ImageDefinition[];
}

const gen2 = (name: string): ImageDefinition => ({ name, generation: 'V2', architecture: 'x64' });
const gen1 = (name: string): ImageDefinition => ({ name, generation: 'V1', architecture: 'x64' });
const arm = (name: string): ImageDefinition => ({ name, generation: 'V2', architecture: 'Arm64' });
const shared = (image: ImageDefinition): ImageDefinition => ({ ...image, sharedOnly: true });

export const IMAGE_GALLERIES: readonly ImageGallery[] = [
  {
    name: 'AKSUbuntu',
    resourceGroup: 'AKS-Ubuntu',
    community: 'AKSUbuntu-38d80f77-467a-481f-a8d4-09b6d4220bd2',
    images: [
      gen2('2204gen2containerd'),
      gen1('2204containerd'),
      arm('2204gen2arm64containerd'),
      gen2('2204gen2TLcontainerd'),
      gen2('2404gen2containerd'),
      gen1('2404containerd'),
      arm('2404gen2arm64containerd'),
      gen2('2404gen2TLcontainerd'),
      shared(gen2('2004gen2fipscontainerd')),
      shared(gen1('2004fipscontainerd')),
      shared(gen2('2204gen2fipsTLcontainerd')),
    ],
  },
  {
    name: 'AKSAzureLinux',
    resourceGroup: 'AKS-AzureLinux',
    community: 'AKSAzureLinux-f7c7cda5-1c9a-4bdc-a222-9614c968580b',
    images: [
      gen2('V2gen2'),
      gen1('V2'),
      arm('V2gen2arm64'),
      gen2('V2gen2TL'),
      gen2('V3gen2'),
      gen1('V3'),
      arm('V3gen2arm64'),
      gen2('V3gen2TL'),
      shared(gen2('V2gen2fips')),
      shared(gen1('V2fips')),
      shared(gen2('V3gen2fips')),
      shared(gen1('V3fips')),
      shared(arm('V3gen2arm64fips')),
    ],
  },
];

/** Image versions published from the start, oldest first. */
export const FIRST_IMAGE_VERSIONS = [
  { version: '202606.01.0', publishedDate: '2026-06-01T00:00:00Z' },
  { version: '202610.15.0', publishedDate: '2026-10-15T00:00:00Z' },
] as const;
