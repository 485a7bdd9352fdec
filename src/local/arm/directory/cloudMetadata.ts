/**
 * `/metadata/endpoints`, from which clients learn where a cloud's other services are. The directory is said to be
 * AD FS, as on Azure Stack: clients ask no public directory about such an authority.
 */
import type { ArmContext } from '../armContext.ts';
import { ok, openRoute, type Route } from '../server/router.ts';

/** Before this api-version the answer was one object; from then on it is a list of clouds. */
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
