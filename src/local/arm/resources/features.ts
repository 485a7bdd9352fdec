/** Preview features of the subscription, for `az feature`. */
import { listed, type ArmContext } from '../armContext.ts';
import { textAt } from '../jsonPath.ts';
import { ok, route, type ArmResponse, type Route } from '../server/router.ts';

const FEATURES = 'Microsoft.Features/featureProviders';
const BASE = '/subscriptions/{subscription}/providers/Microsoft.Features';

export function featureRoutes(context: ArmContext): readonly Route[] {
  const { store, random } = context;
  const show = (namespace: string, name: string): object => ({
    id: featureId(context, namespace, name),
    name: `${namespace}/${name}`,
    type: 'Microsoft.Features/providers/features',
    properties: { state: isFeatureRegistered(context, namespace, name) ? 'Registered' : 'NotRegistered' },
  });
  const set =
    (state: 'Registered' | 'NotRegistered'): Route['handle'] =>
    ({ parameters: { namespace = '', name = '' } }): ArmResponse => {
      const id = featureId(context, namespace, name);
      store.put({ id, name: `${namespace}/${name}`, type: FEATURES, etag: random.uuid(), properties: { state } });
      return ok(show(namespace, name));
    };
  const known = (): readonly string[] => store.list(FEATURES).map(({ name }) => name);
  const named = (full: string): object => {
    const [namespace = '', name = ''] = full.split('/');
    return show(namespace, name);
  };
  const feature = `${BASE}/providers/{namespace}/features/{name}`;
  return [
    route('features.listAll', 'GET', `${BASE}/features`, () => listed(known().map(named))),
    route('features.list', 'GET', `${BASE}/providers/{namespace}/features`, ({ parameters: { namespace = '' } }) =>
      listed(
        known()
          .filter((full) => full.toLowerCase().startsWith(`${namespace.toLowerCase()}/`))
          .map(named),
      ),
    ),
    route('features.get', 'GET', feature, ({ parameters: { namespace = '', name = '' } }) => ok(show(namespace, name))),
    route('features.register', 'POST', `${feature}/register`, set('Registered')),
    route('features.unregister', 'POST', `${feature}/unregister`, set('NotRegistered')),
  ];
}

export function isFeatureRegistered(context: ArmContext, namespace: string, name: string): boolean {
  return textAt(context.store.find(featureId(context, namespace, name))?.properties, 'state') === 'Registered';
}

function featureId({ store }: ArmContext, namespace: string, name: string): string {
  return `/subscriptions/${store.subscriptionId}/providers/Microsoft.Features/providers/${namespace}/features/${name}`;
}
