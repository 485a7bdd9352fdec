/** The endpoints outside ARM: the directory that issues tokens, the price list, and the token server for images. */
import { timestamp, type ArmContext } from '../armContext.ts';
import { refusal } from '../refusal.ts';
import { ok, openRoute, type Route } from '../server/router.ts';
import type { Principal } from './principals.ts';
import { RetailPrices } from './retailPrices.ts';
import type { Tokens } from './tokens.ts';

const LIFETIME = 3600;

/** The token server issues tokens of `imageReader`, which may read the subscription of shared images. */
export function directoryRoutes(
  { endpoint, clock }: ArmContext,
  tokens: Tokens,
  imageReader: Principal,
): readonly Route[] {
  const prices = new RetailPrices();
  const grant: Route['handle'] = ({ body, parameters: { tenant = '' } }) => {
    if (typeof body !== 'string') throw refusal('invalid_request');
    return ok(tokens.grant(tenant, new URLSearchParams(body)));
  };
  const configuration: Route['handle'] = ({ parameters: { tenant = '' } }) =>
    ok({
      issuer: `${endpoint()}/${tenant}/v2.0`,
      authorization_endpoint: `${endpoint()}/${tenant}/oauth2/v2.0/authorize`,
      token_endpoint: `${endpoint()}/${tenant}/oauth2/v2.0/token`,
      device_authorization_endpoint: `${endpoint()}/${tenant}/oauth2/v2.0/devicecode`,
      jwks_uri: `${endpoint()}/${tenant}/discovery/v2.0/keys`,
      response_types_supported: ['token'],
      subject_types_supported: ['pairwise'],
      id_token_signing_alg_values_supported: ['RS256'],
      token_endpoint_auth_methods_supported: ['client_secret_post', 'private_key_jwt'],
    });
  return [
    openRoute('directory.token', 'POST', '/{tenant}/oauth2/v2.0/token', grant),
    openRoute('directory.token', 'POST', '/{tenant}/oauth2/token', grant),
    // Some clients append the tenant to the path of the authority.
    openRoute('directory.token', 'POST', '/adfs/{tenant}/oauth2/v2.0/token', grant),
    openRoute('directory.configuration', 'GET', '/{tenant}/v2.0/.well-known/openid-configuration', configuration),
    openRoute('directory.configuration', 'GET', '/{tenant}/.well-known/openid-configuration', configuration),
    openRoute('directory.instances', 'GET', '/common/discovery/instance', () => {
      const host = new URL(endpoint()).host;
      return ok({
        tenant_discovery_endpoint: `${endpoint()}/common/v2.0/.well-known/openid-configuration`,
        'api-version': '1.1',
        metadata: [{ preferred_network: host, preferred_cache: host, aliases: [host] }],
      });
    }),
    openRoute('retailPrices.list', 'GET', '/api/retail/prices', ({ query }) =>
      ok(prices.page(query, `${endpoint()}/api/retail/prices`)),
    ),
    // An open route, because ARM's gate requires an api-version; a token is still required.
    openRoute('sharedImages.token', 'GET', '/sig/token', ({ query, headers }) => {
      tokens.check(headers['authorization']);
      return ok({
        Token: tokens.issue(imageReader, query.get('scope') ?? ''),
        ExpiresOn: timestamp(clock.now() + LIFETIME * 1000),
        RefreshOn: timestamp(clock.now() + (LIFETIME / 2) * 1000),
      });
    }),
  ];
}
