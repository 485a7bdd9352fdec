/** The subscription itself: its locations with zones, and the providers registered in it. */
import { listed, type ArmContext } from '../armContext.ts';
import { refusal } from '../refusal.ts';
import { NAMESPACES, versionsOf } from '../server/apiVersions.ts';
import { ok, route, type Route } from '../server/router.ts';
import { CATALOGUE_LOCATIONS } from '../../../catalogue/skuCatalogue.ts';
import { REGIONS } from './regions.ts';

const SUBSCRIPTION = '/subscriptions/{subscription}';

/** `types` are full names such as `Microsoft.Compute/virtualMachines`. */
export function subscriptionRoutes(context: ArmContext, tenantId: string, types: readonly string[]): readonly Route[] {
  const { subscriptionId } = context.store;
  const subscription = {
    id: `/subscriptions/${subscriptionId}`,
    authorizationSource: 'RoleBased',
    managedByTenants: [],
    subscriptionId,
    tenantId,
    displayName: 'nodewright local',
    state: 'Enabled',
    subscriptionPolicies: {
      locationPlacementId: 'Public_2014-09-01',
      quotaId: 'PayAsYouGo_2014-09-01',
      spendingLimit: 'Off',
    },
  };
  const tenant = {
    id: `/tenants/${tenantId}`,
    tenantId,
    countryCode: 'US',
    displayName: 'nodewright local',
    tenantCategory: 'Home',
  };
  const providerNamed: Route['handle'] = ({ parameters: { namespace = '' } }) => {
    const known = NAMESPACES.find((each) => each.toLowerCase() === namespace.toLowerCase());
    if (known === undefined) throw refusal('InvalidResourceNamespace', { namespace });
    return ok(providerOf(subscriptionId, known, types));
  };
  return [
    route('subscriptions.list', 'GET', '/subscriptions', () => listed([subscription])),
    route('subscriptions.get', 'GET', SUBSCRIPTION, () => ok(subscription)),
    route('tenants.list', 'GET', '/tenants', () => listed([tenant])),
    route('subscriptions.listLocations', 'GET', `${SUBSCRIPTION}/locations`, () =>
      listed(CATALOGUE_LOCATIONS.map((name) => locationOf(subscriptionId, name))),
    ),
    route('providers.list', 'GET', `${SUBSCRIPTION}/providers`, () =>
      listed(NAMESPACES.map((namespace) => providerOf(subscriptionId, namespace, types))),
    ),
    route('providers.get', 'GET', `${SUBSCRIPTION}/providers/{namespace}`, providerNamed),
    // All providers are registered already.
    route('providers.register', 'POST', `${SUBSCRIPTION}/providers/{namespace}/register`, providerNamed),
  ];
}

function locationOf(subscriptionId: string, name: string): object {
  const region = REGIONS[name];
  return {
    id: `/subscriptions/${subscriptionId}/locations/${name}`,
    name,
    type: 'Region',
    displayName: region?.displayName ?? name,
    regionalDisplayName: `(${region?.group ?? 'Other'}) ${region?.displayName ?? name}`,
    metadata: {
      regionType: 'Physical',
      regionCategory: 'Recommended',
      geographyGroup: region?.group,
      pairedRegion: (region?.paired ?? []).map((paired) => ({
        name: paired,
        id: `/subscriptions/${subscriptionId}/locations/${paired}`,
      })),
    },
    availabilityZoneMappings: ['1', '2', '3'].map((zone, index) => ({
      logicalZone: zone,
      physicalZone: `${name}-az${region?.zones[index] ?? zone}`,
    })),
  };
}

function providerOf(subscriptionId: string, namespace: string, types: readonly string[]): object {
  const own = types.filter((type) => type.toLowerCase().startsWith(`${namespace.toLowerCase()}/`));
  const locations = CATALOGUE_LOCATIONS.map((name) => REGIONS[name]?.displayName ?? name);
  return {
    id: `/subscriptions/${subscriptionId}/providers/${namespace}`,
    namespace,
    registrationState: 'Registered',
    registrationPolicy: 'RegistrationRequired',
    resourceTypes: own.map((type) => {
      const resourceType = type.slice(namespace.length + 1);
      const apiVersions = versionsOf(namespace, resourceType) ?? [];
      return {
        resourceType,
        locations,
        apiVersions,
        defaultApiVersion: apiVersions[0],
        zoneMappings: locations.map((location) => ({ location, zones: ['1', '2', '3'] })),
        capabilities: 'SupportsTags, SupportsLocation',
      };
    }),
  };
}
