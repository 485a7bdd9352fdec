/**
 * `/metadata/endpoints`, which tells clients the endpoints of a cloud's services. It names AD FS as the directory, as
 * Azure Stack does, because clients do not look up such an authority in a public directory.
 */
import type { ArmContext } from '../armContext.ts';
import { ok, openRoute, type Route } from '../server/router.ts';

/** The first api-version with a list of clouds; before it the answer is one object. */
const FIRST_LIST = '2019-05-01';

export function cloudMetadataRoutes({ endpoint }: ArmContext, tenantId: string): readonly Route[] {
  return [
    openRoute('metadata.endpoints', 'GET', '/metadata/endpoints', ({ query }) => {
      const address = endpoint();
      const authentication = { loginEndpoint: `${address}/adfs`, audiences: [address] };
      if ((query.get('api-version') ?? '') < FIRST_LIST) {
        return ok({ galleryEndpoint: address, graphEndpoint: address, portalEndpoint: address, authentication });
      }
      const cloud = {
        name: 'nodewright',
        portal: address,
        resourceManager: address,
        graph: address,
        gallery: address,
        media: address,
        microsoftGraphResourceId: address,
        authentication: { ...authentication, tenant: tenantId, identityProvider: 'ADFS' },
        suffixes: {},
      };
      return ok([cloud]);
    }),
  ];
}
