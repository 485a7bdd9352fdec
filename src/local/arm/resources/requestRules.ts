/** Checks of every write: preconditions, location, tags, and whether the group is being deleted. */
import { CATALOGUE_LOCATIONS } from '../../../catalogue/skuCatalogue.ts';
import type { ArmContext } from '../armContext.ts';
import { refusal } from '../refusal.ts';
import { textAt, textsAt } from '../jsonPath.ts';
import type { ArmResource } from '../resourceStore.ts';
import type { ArmRequest } from '../server/router.ts';

const MAX_TAGS = 50;
const MAX_TAG_NAME = 512;
const MAX_TAG_VALUE = 256;
const RESERVED_IN_TAGS = /[<>%&\\?/]/;

/** Throws when `If-Match` or `If-None-Match` fails; as in Azure, ETags may be without their quotes. */
export function checkPreconditions(request: ArmRequest, existing: ArmResource | undefined): void {
  const wanted = request.headers['if-match'];
  const unwanted = request.headers['if-none-match'];
  const name = existing?.name ?? request.parameters['name'] ?? '';
  if (unwanted === '*' && existing !== undefined) throw refusal('PreconditionFailed.ifNoneMatch', { name });
  if (typeof wanted !== 'string' || wanted === '') return;
  if (existing !== undefined && (wanted === '*' || bare(wanted) === bare(existing.etag))) return;
  throw refusal('PreconditionFailed.ifMatch', { wanted, etag: existing?.etag ?? '', name });
}

function bare(etag: string): string {
  return etag.replace(/^W\//, '').replaceAll('"', '');
}

/** Returns the location of a body; throws when it is absent, unknown, or not that of the existing resource. */
export function checkLocation(type: string, name: string, body: unknown, existing: ArmResource | undefined): string {
  const location = textAt(body, 'location');
  if (location === undefined || location === '') throw refusal('LocationRequired');
  const normal = normalLocation(location);
  if (existing?.location !== undefined && normalLocation(existing.location) !== normal) {
    throw refusal('InvalidResourceLocation', {
      name,
      present: existing.location,
      group: existing.id.split('/')[4] ?? '',
      location,
    });
  }
  if (CATALOGUE_LOCATIONS.includes(normal)) return normal;
  throw refusal('LocationNotAvailableForResourceType', { location, type, available: CATALOGUE_LOCATIONS.join(',') });
}

export function normalLocation(location: string): string {
  return location.toLowerCase().replaceAll(' ', '');
}

export function checkTags(body: unknown): Readonly<Record<string, string>> {
  const tags = textsAt(body, 'tags');
  const names = Object.keys(tags);
  const reserved = names.filter((name) => RESERVED_IN_TAGS.test(name)).join(',');
  const longName = names.find((name) => name.length > MAX_TAG_NAME);
  const longValue = names.find((name) => (tags[name] ?? '').length > MAX_TAG_VALUE);
  if (names.length > MAX_TAGS) throw refusal('InvalidTags', { count: names.length, most: MAX_TAGS });
  if (reserved !== '') throw refusal('InvalidTagNameCharacters', { reserved });
  if (longName !== undefined) throw refusal('TagNameTooLong', { name: longName, most: MAX_TAG_NAME });
  if (longValue !== undefined) throw refusal('TagValueTooLong', { name: longValue, most: MAX_TAG_VALUE });
  return tags;
}

/** Throws for a group that is being deleted. */
export function checkGroup(context: ArmContext, group: string): void {
  if (context.store.group(group).provisioningState !== 'Deleting') return;
  throw refusal('ResourceGroupBeingDeleted', { group });
}
