/** Checks that every write passes: preconditions, location, tags, and a group that is not being deleted. */
import { CATALOGUE_LOCATIONS } from '../../../catalogue/skuCatalogue.ts';
import type { ArmContext } from '../armContext.ts';
import { ArmError } from '../armError.ts';
import { refusal } from '../refusal.ts';
import { textAt, textsAt } from '../jsonPath.ts';
import type { ArmResource } from '../resourceStore.ts';
import type { ArmRequest } from '../server/router.ts';

const MAX_TAGS = 50;
const MAX_TAG_NAME = 512;
const MAX_TAG_VALUE = 256;
const RESERVED_IN_TAGS = /[<>%&\\?/]/;

/** ETags in `If-Match` and `If-None-Match`, compared as Azure does: with or without the quotes. */
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

/** Where a resource is to be; throws when that is nowhere, elsewhere than it is, or where Azure is not. */
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
  const refuse = (code: string, message: string): never => {
    throw new ArmError(400, code, message);
  };
  if (names.length > MAX_TAGS)
    refuse('InvalidTags', `The number of tags '${names.length}' exceeds the allowed count of '${MAX_TAGS}'.`);
  if (reserved !== '')
    refuse(
      'InvalidTagNameCharacters',
      `The following tag names contain reserved characters '<,>,%,&,\\,?,/' or control characters: '${reserved}'.`,
    );
  if (longName !== undefined)
    refuse('TagNameTooLong', `The tag name '${longName}' exceeds the limit of ${MAX_TAG_NAME} characters.`);
  if (longValue !== undefined)
    refuse('TagValueTooLong', `The value of tag '${longValue}' exceeds the limit of ${MAX_TAG_VALUE} characters.`);
  return tags;
}

/** Nothing is made in a group that is on its way out. */
export function checkGroup(context: ArmContext, group: string): void {
  if (context.store.group(group).provisioningState !== 'Deleting') return;
  throw refusal('ResourceGroupBeingDeleted', { group });
}
