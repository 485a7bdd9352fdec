/** The AKS node images that the local Azure publishes. In: nothing. Out: image definitions by gallery, and versions. */
export const COMMUNITY_IMAGES: Readonly<Record<string, readonly string[]>> = {
  'AKSUbuntu-38d80f77-467a-481f-a8d4-09b6d4220bd2': [
    '2204gen2containerd',
    '2204containerd',
    '2204gen2arm64containerd',
    '2204gen2TLcontainerd',
    '2404gen2containerd',
    '2404containerd',
    '2404gen2arm64containerd',
    '2404gen2TLcontainerd',
  ],
  'AKSAzureLinux-f7c7cda5-1c9a-4bdc-a222-9614c968580b': [
    'V2gen2',
    'V2',
    'V2gen2arm64',
    'V2gen2TL',
    'V3gen2',
    'V3',
    'V3gen2arm64',
    'V3gen2TL',
  ],
};

export const IMAGE_VERSIONS = [
  { version: '202606.01.0', publishedDate: '2026-06-01T00:00:00Z' },
  { version: '202610.15.0', publishedDate: '2026-10-15T00:00:00Z' },
] as const;
