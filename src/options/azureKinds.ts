/** Value kinds used only by Azure options: resource ids, tags, clouds, addresses. */
import type { OptionKind, ParseOutcome } from './optionDefinition.ts';
import { matching } from './optionKinds.ts';

export type AzureCloudName = 'AzurePublicCloud' | 'AzureUSGovernmentCloud' | 'AzureChinaCloud';

/** Lower-case spellings of the existing clouds used by Azure tools. */
const CLOUD_SPELLINGS: Readonly<Record<string, AzureCloudName>> = {
  azurepubliccloud: 'AzurePublicCloud',
  azurecloud: 'AzurePublicCloud',
  azureusgovernmentcloud: 'AzureUSGovernmentCloud',
  azureusgovernment: 'AzureUSGovernmentCloud',
  azurechinacloud: 'AzureChinaCloud',
};

export const cloudName: OptionKind<AzureCloudName> = {
  placeholder: 'cloud',
  allowed: 'AzurePublicCloud, AzureUSGovernmentCloud or AzureChinaCloud, in any case',
  emptyIsValue: false,
  parse(text) {
    const spelling = text.trim().toLowerCase();
    const value = Object.hasOwn(CLOUD_SPELLINGS, spelling) ? CLOUD_SPELLINGS[spelling] : undefined;
    return value === undefined ? { problems: ['is not a known Azure cloud'] } : { value };
  },
};

export const uuid = matching({
  placeholder: 'uuid',
  allowed: 'a UUID such as 123e4567-e89b-12d3-a456-426614174000',
  pattern: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  problem: 'is not a UUID',
});

export const linuxUserName = matching({
  placeholder: 'name',
  allowed: 'a letter followed by letters, digits, "-" or "_", at most 32 characters',
  pattern: /^[A-Za-z][-A-Za-z0-9_]{0,31}$/,
  problem: 'is not a Linux user name that Azure takes',
});

export const absolutePath = matching({
  placeholder: 'path',
  allowed: 'an absolute path',
  pattern: /^\//,
  problem: 'is not an absolute path',
});

const SUBNET_ID =
  '/subscriptions/<id>/resourceGroups/<group>/providers/Microsoft.Network/virtualNetworks/<network>/subnets/<subnet>';

export const subnetId = matching({
  placeholder: 'resource-id',
  allowed: SUBNET_ID,
  pattern: armIdPattern('Microsoft.Network/virtualNetworks', 'subnets'),
  problem: 'is not the resource id of a subnet',
});

const DISK_ENCRYPTION_SET_ID =
  '/subscriptions/<id>/resourceGroups/<group>/providers/Microsoft.Compute/diskEncryptionSets/<name>';

export const diskEncryptionSetId = matching({
  placeholder: 'resource-id',
  allowed: DISK_ENCRYPTION_SET_ID,
  pattern: armIdPattern('Microsoft.Compute/diskEncryptionSets'),
  problem: 'is not the resource id of a disk encryption set',
});

const CAPACITY_RESERVATION_GROUP = armIdPattern('Microsoft.Compute/capacityReservationGroups');

export const capacityReservationGroups: OptionKind<readonly string[]> = {
  placeholder: 'resource-id,…',
  allowed:
    '/subscriptions/<id>/resourceGroups/<group>/providers/Microsoft.Compute/capacityReservationGroups/<name>, separated by commas',
  emptyIsValue: true,
  parse(text) {
    const value = text
      .split(',')
      .map((id) => id.trim())
      .filter((id) => id !== '');
    const wrong = value.filter((id) => !CAPACITY_RESERVATION_GROUP.test(id));
    if (wrong.length === 0) return { value };
    return { problems: wrong.map((id) => `has "${id}", which is not the resource id of a capacity reservation group`) };
  },
};

export const url: OptionKind<string> = {
  placeholder: 'url',
  allowed: 'an absolute URL with a host, such as https://example.org',
  emptyIsValue: false,
  parse(text) {
    const trimmed = text.trim();
    // "example.org:443" parses as scheme "example.org", so also require a host.
    if (!URL.canParse(trimmed) || new URL(trimmed).hostname === '') return { problems: ['is not an absolute URL'] };
    return { value: trimmed };
  },
};

export const ipAddress: OptionKind<string> = {
  placeholder: 'address',
  allowed: 'an IPv4 or IPv6 address',
  emptyIsValue: false,
  parse(text) {
    const trimmed = text.trim();
    return isIpv4(trimmed) || isIpv6(trimmed) ? { value: trimmed } : { problems: ['is not an IP address'] };
  },
};

const TAG_NAME_LIMIT = 512;
const TAG_VALUE_LIMIT = 256;
const TAG_NAME_FORBIDDEN = /[<>%&\\?/]/;

/** `name=value` pairs for every Azure resource that nodewright creates. */
export const tags: OptionKind<Readonly<Record<string, string>>> = {
  placeholder: 'name=value,…',
  allowed: `name=value pairs separated by commas; names of up to ${TAG_NAME_LIMIT} characters without any of <>%&\\?/ and unique whatever their case, values of up to ${TAG_VALUE_LIMIT} characters`,
  emptyIsValue: true,
  parse: parseTags,
};

function parseTags(text: string): ParseOutcome<Readonly<Record<string, string>>> {
  const value: Record<string, string> = Object.create(null) as Record<string, string>;
  const seen = new Set<string>();
  const problems: string[] = [];
  for (const pair of text.split(',').filter((item) => item.trim() !== '')) {
    const separator = pair.indexOf('=');
    const name = pair.slice(0, separator === -1 ? pair.length : separator).trim();
    const tagValue = separator === -1 ? '' : pair.slice(separator + 1).trim();
    if (separator === -1) problems.push(`has "${name}" without a value`);
    problems.push(...tagProblems(name, tagValue));
    if (seen.has(name.toLowerCase())) problems.push(`names the tag "${name}" more than once`);
    seen.add(name.toLowerCase());
    value[name] = tagValue;
  }
  return problems.length > 0 ? { problems } : { value: { ...value } };
}

function tagProblems(name: string, value: string): string[] {
  const problems: string[] = [];
  if (name === '') problems.push(`has a tag without a name (value "${value}")`);
  if (name.length > TAG_NAME_LIMIT) problems.push(`has a tag name of ${name.length} characters`);
  if (TAG_NAME_FORBIDDEN.test(name)) problems.push(`has a forbidden character in the tag name "${name}"`);
  if (value.length > TAG_VALUE_LIMIT) problems.push(`has a value of ${value.length} characters for the tag "${name}"`);
  return problems;
}

/** ARM compares ids without regard to case. */
function armIdPattern(type: string, ...childTypes: string[]): RegExp {
  const children = childTypes.map((child) => `/${child}/[^/]+`).join('');
  return new RegExp(`^/subscriptions/[^/]+/resourceGroups/[^/]+/providers/${type}/[^/]+${children}/?$`, 'i');
}

function isIpv4(text: string): boolean {
  const parts = text.split('.');
  return parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255);
}

/** The URL parser knows the whole IPv6 grammar. */
function isIpv6(text: string): boolean {
  return /^[0-9a-f:.]+$/i.test(text) && text.includes(':') && URL.canParse(`http://[${text}]/`);
}
