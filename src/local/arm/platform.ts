/**
 * What a subscription offers before anything is created in it: itself, its locations, the sizes for sale, images, and
 * the progress of operations. In: the context. Out: routes that read it.
 */
import { ArmError } from './armError.ts';
import { listed, retryAfter, timestamp, type ArmContext } from './armContext.ts';
import { COMMUNITY_IMAGES, IMAGE_VERSIONS } from './communityImages.ts';
import { parseEqualities } from './odataFilter.ts';
import type { Operation } from './operations.ts';
import type { ArmResponse, Route } from './router.ts';
import { CATALOGUE_LOCATIONS, type ResourceSku } from '../../catalogue/skuCatalogue.ts';

const SUBSCRIPTION = '/subscriptions/{subscription}';

export function platformRoutes(context: ArmContext, tenantId: string): readonly Route[] {
  const subscriptionId = context.store.subscriptionId;
  const subscription = {
    id: `/subscriptions/${subscriptionId}`,
    subscriptionId,
    tenantId,
    displayName: 'nodewright local',
    state: 'Enabled',
  };
  const followed = ['Microsoft.Compute', 'Microsoft.Network'].flatMap((namespace) => {
    const location = `${SUBSCRIPTION}/providers/${namespace}/locations/{location}`;
    return [
      get('operations.get', `${location}/operations/{id}`, ({ id = '' }) =>
        progress(context, context.operations.find(id)),
      ),
      get('operationResults.get', `${location}/operationResults/{id}`, ({ id = '' }) => {
        const operation = context.operations.find(id);
        if (operation.error !== undefined) throw operation.error;
        return { status: operation.status === 'InProgress' ? 202 : 204 };
      }),
    ];
  });
  return [
    get('subscriptions.list', '/subscriptions', () => listed([subscription])),
    get('subscriptions.get', SUBSCRIPTION, () => ({ status: 200, body: subscription })),
    get('subscriptions.listLocations', `${SUBSCRIPTION}/locations`, () =>
      listed(
        CATALOGUE_LOCATIONS.map((name) => ({
          id: `/subscriptions/${subscriptionId}/locations/${name}`,
          name,
          type: 'Region',
          metadata: { regionType: 'Physical' },
        })),
      ),
    ),
    {
      name: 'resourceSkus.list',
      method: 'GET',
      path: `${SUBSCRIPTION}/providers/Microsoft.Compute/skus`,
      handle: ({ query }) => listed(skusFor(context, query.get('$filter') ?? '')),
    },
    get(
      'communityGalleryImageVersions.list',
      `${SUBSCRIPTION}/providers/Microsoft.Compute/locations/{location}/communityGalleries/{gallery}/images/{image}/versions`,
      ({ gallery = '', image = '' }) => listed(imageVersions(context, gallery, image)),
    ),
    ...followed,
  ];
}

function get(name: string, path: string, answer: (parameters: Readonly<Record<string, string>>) => ArmResponse): Route {
  return { name, method: 'GET', path, handle: ({ parameters }) => answer(parameters) };
}

function skusFor(context: ArmContext, filter: string): readonly ResourceSku[] {
  for (const [field, value] of parseEqualities(filter)) {
    if (field !== 'location') throw new ArmError(400, 'InvalidFilter', `SKUs cannot be filtered by '${field}'.`);
    if (value.toLowerCase() !== context.location) return [];
  }
  return context.catalogue.all().map((size) => size.sku);
}

function imageVersions(context: ArmContext, gallery: string, image: string): readonly object[] {
  const images = COMMUNITY_IMAGES[gallery];
  if (images?.includes(image) !== true) {
    throw new ArmError(
      404,
      'ResourceNotFound',
      `The image '${image}' of community gallery '${gallery}' was not found.`,
    );
  }
  return IMAGE_VERSIONS.map(({ version, publishedDate }) => ({
    name: version,
    location: context.location,
    identifier: { uniqueId: `/CommunityGalleries/${gallery}/Images/${image}/Versions/${version}` },
    properties: { publishedDate, excludeFromLatest: false },
  }));
}

function progress(context: ArmContext, operation: Operation): ArmResponse {
  return {
    status: 200,
    headers: operation.status === 'InProgress' ? { 'retry-after': retryAfter(context, operation) } : {},
    body: {
      name: operation.id,
      startTime: timestamp(operation.startedAt),
      ...(operation.endedAt === undefined ? {} : { endTime: timestamp(operation.endedAt) }),
      status: operation.status,
      ...(operation.error === undefined ? {} : operation.error.toBody()),
    },
  };
}
