/**
 * Versions of node images: the initial ones and those released since. Azure releases images by itself; here a client
 * does, with a PUT below the path that lists the versions.
 */
import { listed, timestamp, type ArmContext } from '../armContext.ts';
import { aksRefusal } from '../containerservice/aksRefusal.ts';
import { textAt } from '../jsonPath.ts';
import { ok, route, type Route } from '../server/router.ts';
import { compareVersions } from '../versions.ts';
import { FIRST_IMAGE_VERSIONS, IMAGE_GALLERIES } from './imageCatalogue.ts';

export interface ImageVersion {
  /** For example `202610.15.0`. */
  readonly version: string;
  readonly publishedDate: string;
}

const RELEASES = 'Microsoft.ContainerService/locations/nodeImageVersions';
const PATH =
  '/subscriptions/{subscription}/providers/Microsoft.ContainerService/locations/{location}/nodeImageVersions';
const FORM = /^\d{6}\.\d{2}\.\d{1,4}$/;
/** Older releases are withdrawn, as in Azure. */
const MOST_RELEASES = 50;

/** Returns all versions, oldest first. */
export function imageVersions({ store }: ArmContext): readonly ImageVersion[] {
  const released = store.list(RELEASES).map(({ name, properties }) => ({
    version: name,
    publishedDate: textAt(properties, 'publishedDate') ?? '',
  }));
  return [...FIRST_IMAGE_VERSIONS, ...released].toSorted((left, right) => compareVersions(left.version, right.version));
}

/** Returns the version that AKS gives new nodes. */
export function newestImageVersion(context: ArmContext): string {
  return imageVersions(context).at(-1)?.version ?? '';
}

export function imageReleaseRoutes(context: ArmContext): readonly Route[] {
  return [
    route('nodeImageVersions.list', 'GET', PATH, () =>
      listed(imageVersions(context).flatMap(({ version }) => nodeImagesOf(version))),
    ),
    route('nodeImageVersions.release', 'PUT', `${PATH}/{version}`, ({ path, parameters: { version = '' } }) => {
      release(context, version);
      return ok({ id: path, name: version, properties: { images: nodeImagesOf(version) } });
    }),
  ];
}

/** Publishes a version in all regions. */
function release({ store, clock, random }: ArmContext, version: string): void {
  if (!FORM.test(version)) throw aksRefusal('InvalidParameter.value', { parameter: 'version', value: version });
  if (FIRST_IMAGE_VERSIONS.some((each) => each.version === version)) return;
  const id = `/subscriptions/${store.subscriptionId}/providers/Microsoft.ContainerService/locations/all/nodeImageVersions/${version}`;
  if (store.find(id) !== undefined) return;
  store.put({
    id,
    name: version,
    type: RELEASES,
    etag: random.uuid(),
    properties: { publishedDate: timestamp(clock.now()) },
  });
  const oldest = store.list(RELEASES).toSorted((left, right) => compareVersions(left.name, right.name));
  for (const { id: withdrawn } of oldest.slice(0, -MOST_RELEASES)) store.delete(withdrawn);
}

function nodeImagesOf(version: string): readonly object[] {
  return IMAGE_GALLERIES.flatMap((gallery) =>
    gallery.images.map((image) => ({
      fullName: `${gallery.name}-${image.name}-${version}`,
      os: gallery.name,
      sku: image.name,
      version,
    })),
  );
}
