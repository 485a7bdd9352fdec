/** Image galleries (community, shared, and those of AKS's own subscription), and the check of image references. */
import { listed, type ArmContext } from '../armContext.ts';
import type { ArmError } from '../armError.ts';
import { refusal } from '../refusal.ts';
import { textAt } from '../jsonPath.ts';
import { ok, route, type ArmRequest, type ArmResponse, type Route } from '../server/router.ts';
import type { Tokens } from '../directory/tokens.ts';
import { IMAGE_GALLERIES, type ImageDefinition, type ImageGallery } from './imageCatalogue.ts';
import { imageVersions, type ImageVersion } from './imageReleases.ts';

const COMMUNITY_ID = /^\/CommunityGalleries\/([^/]+)\/images\/([^/]+)(?:\/versions\/([^/]+))?$/i;
const SHARED_ID = /^\/SharedGalleries\/([^/]+)\/images\/([^/]+)(?:\/versions\/([^/]+))?$/i;
const GALLERY_ID =
  /^\/subscriptions\/([^/]+)\/resourceGroups\/[^/]+\/providers\/Microsoft\.Compute\/galleries\/([^/]+)\/images\/([^/]+)(?:\/versions\/([^/]+))?$/i;

interface Place {
  readonly gallery: ImageGallery;
  readonly image: ImageDefinition;
}

export class Images {
  private readonly context: ArmContext;
  private readonly tokens: Tokens;
  /** The subscription of AKS that owns the shared galleries. */
  readonly sharedSubscription: string;

  constructor(context: ArmContext, tokens: Tokens, sharedSubscription: string) {
    this.context = context;
    this.tokens = tokens;
    this.sharedSubscription = sharedSubscription;
  }

  /** Returns a VM's image, undefined for one in an unknown gallery; throws when the image cannot be used. */
  check(reference: unknown, request: ArmRequest): ImageDefinition | undefined {
    const community = COMMUNITY_ID.exec(textAt(reference, 'communityGalleryImageId') ?? '');
    if (community) return this.found(this.communityGallery(community[1]), community[2], community[3], true);
    const shared = SHARED_ID.exec(textAt(reference, 'sharedGalleryImageId') ?? '');
    if (shared) return this.found(this.sharedGallery(shared[1]), shared[2], shared[3], false);
    const [, subscription = '', gallery, image, version] = GALLERY_ID.exec(textAt(reference, 'id') ?? '') ?? [];
    if (subscription === '') return undefined;
    if (subscription.toLowerCase() !== this.context.store.subscriptionId.toLowerCase()) this.checkAuxiliary(request);
    return this.found(this.sharedGallery(gallery), image, version, false);
  }

  routes(): readonly Route[] {
    const location = '/subscriptions/{subscription}/providers/Microsoft.Compute/locations/{location}';
    const gallery =
      '/subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.Compute/galleries/{gallery}';
    return [
      ...this.galleryRoutes(
        'communityGallery',
        `${location}/communityGalleries/{gallery}`,
        ({ gallery: name = '' }) => this.communityGallery(name),
        (found, rest) => `/CommunityGalleries/${found.community}${rest}`,
      ),
      ...this.galleryRoutes(
        'sharedGallery',
        `${location}/sharedGalleries/{gallery}`,
        ({ gallery: name = '' }) => this.sharedGallery(name),
        (found, rest) => `/SharedGalleries/${this.uniqueName(found)}${rest}`,
      ),
      ...this.galleryRoutes('gallery', gallery, ({ gallery: name = '', subscription = '', group = '' }) => {
        const found = this.sharedGallery(name);
        const here =
          subscription.toLowerCase() === this.sharedSubscription.toLowerCase() &&
          group.toLowerCase() === found?.resourceGroup.toLowerCase();
        return here ? found : undefined;
      }),
    ];
  }

  private galleryRoutes(
    name: string,
    path: string,
    find: (parameters: Readonly<Record<string, string>>) => ImageGallery | undefined,
    uniqueId?: (gallery: ImageGallery, rest: string) => string,
  ): readonly Route[] {
    const community = name === 'communityGallery';
    const answer = (
      verb: string,
      rest: string,
      body: (gallery: ImageGallery, request: ArmRequest) => ArmResponse,
    ): Route =>
      route(verb, 'GET', `${path}${rest}`, (request) => {
        const gallery = find(request.parameters);
        if (gallery === undefined) throw notFound('gallery', request.parameters['gallery'] ?? '');
        return body(gallery, request);
      });
    const describe = (request: ArmRequest, id: string, itemName: string, properties: object): object => ({
      name: itemName,
      location: this.context.location,
      ...(uniqueId
        ? { type: `Microsoft.Compute/Locations/${name}`, identifier: { uniqueId: id } }
        : { id: request.path.endsWith(`/${itemName}`) ? request.path : `${request.path}/${itemName}` }),
      properties: uniqueId ? properties : { ...properties, provisioningState: 'Succeeded' },
    });
    const idOf = (gallery: ImageGallery, rest = ''): string => uniqueId?.(gallery, rest) ?? '';
    const imageOf = (gallery: ImageGallery, { parameters: { image = '' } }: ArmRequest): Place => ({
      gallery,
      image: this.image(gallery, image, community),
    });
    const showImage = (request: ArmRequest, { gallery, image }: Place): object =>
      describe(request, idOf(gallery, `/Images/${image.name}`), image.name, {
        osType: 'Linux',
        osState: 'Generalized',
        hyperVGeneration: image.generation,
        architecture: image.architecture,
        identifier: { publisher: 'AKS', offer: gallery.name, sku: image.name },
      });
    const showVersion = (request: ArmRequest, { gallery, image }: Place, version: ImageVersion): object =>
      describe(request, idOf(gallery, `/Images/${image.name}/Versions/${version.version}`), version.version, {
        publishedDate: version.publishedDate,
        excludeFromLatest: false,
        ...(uniqueId ? {} : { publishingProfile: { publishedDate: version.publishedDate, excludeFromLatest: false } }),
        storageProfile: { osDiskImage: { diskSizeGB: 30, hostCaching: 'ReadWrite' } },
      });
    return [
      answer(plural(name, 'get'), '', (gallery, request) =>
        ok(describe(request, idOf(gallery), uniqueId ? gallery.community : gallery.name, {})),
      ),
      answer(plural(`${name}Image`, 'list'), '/images', (gallery, request) =>
        listed(
          gallery.images
            .filter(({ sharedOnly }) => !community || sharedOnly !== true)
            .map((image) => showImage(request, { gallery, image })),
        ),
      ),
      answer(plural(`${name}Image`, 'get'), '/images/{image}', (gallery, request) =>
        ok(showImage(request, imageOf(gallery, request))),
      ),
      answer(plural(`${name}ImageVersion`, 'list'), '/images/{image}/versions', (gallery, request) =>
        listed(imageVersions(this.context).map((version) => showVersion(request, imageOf(gallery, request), version))),
      ),
      answer(plural(`${name}ImageVersion`, 'get'), '/images/{image}/versions/{version}', (gallery, request) => {
        const { version = '' } = request.parameters;
        const found = imageVersions(this.context).find((each) => each.version === version);
        if (found === undefined) throw notFound('gallery image version', version);
        return ok(showVersion(request, imageOf(gallery, request), found));
      }),
    ];
  }

  private found(
    gallery: ImageGallery | undefined,
    image = '',
    version: string | undefined,
    community: boolean,
  ): ImageDefinition | undefined {
    if (gallery === undefined) return undefined;
    const definition = this.image(gallery, image, community);
    if (version === undefined || version === 'latest') return definition;
    if (!imageVersions(this.context).some((each) => each.version === version))
      throw notFound('gallery image version', version);
    return definition;
  }

  private image(gallery: ImageGallery, name: string, community: boolean): ImageDefinition {
    const found = gallery.images.find((image) => image.name.toLowerCase() === name.toLowerCase());
    if (found === undefined || (community && found.sharedOnly === true)) throw notFound('gallery image', name);
    return found;
  }

  private communityGallery(name = ''): ImageGallery | undefined {
    return IMAGE_GALLERIES.find(({ community }) => community.toLowerCase() === name.toLowerCase());
  }

  /** Finds a gallery by its name or by the name that is unique across subscriptions. */
  private sharedGallery(name = ''): ImageGallery | undefined {
    return IMAGE_GALLERIES.find((gallery) =>
      [gallery.name, this.uniqueName(gallery)].some((each) => each.toLowerCase() === name.toLowerCase()),
    );
  }

  private uniqueName({ name }: ImageGallery): string {
    return `${this.sharedSubscription}-${name.toUpperCase()}`;
  }

  /** Throws unless the request has a second token: an image of another subscription needs a token for that one. */
  private checkAuxiliary({ headers }: ArmRequest): void {
    const given = headers['x-ms-authorization-auxiliary'];
    const tokens = (Array.isArray(given) ? given.join(',') : (given ?? '')).split(/[,;]/).map((each) => each.trim());
    const [first = ''] = tokens;
    if (first === '') {
      throw refusal('LinkedAuthorizationFailed.subscription', { subscription: this.sharedSubscription });
    }
    for (const token of tokens) this.tokens.check(token);
  }
}

/** Returns the name of an operation: `communityGalleryImageVersions.list`, `galleries.get`. */
function plural(name: string, verb: string): string {
  return `${name.endsWith('y') ? `${name.slice(0, -1)}ies` : `${name}s`}.${verb}`;
}

function notFound(what: string, name: string): ArmError {
  if (what === 'gallery') return refusal('GalleryNotFound', { name });
  return refusal('GalleryImageNotFound', { what, name });
}
