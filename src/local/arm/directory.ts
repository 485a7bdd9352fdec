/**
 * The endpoints outside ARM: the directory that issues tokens, the metadata service's tokens and the price list. None
 * of them asks for a token itself.
 */
import { ArmError } from './armError.ts';
import type { RetailPrices } from './retailPrices.ts';
import type { Route } from './router.ts';
import type { Tokens } from './tokens.ts';

export function directoryRoutes(tokens: Tokens, prices: RetailPrices, endpoint: () => string): readonly Route[] {
  return [
    {
      name: 'directory.token',
      method: 'POST',
      path: '/{tenant}/oauth2/v2.0/token',
      open: true,
      handle: ({ body }) => {
        if (typeof body !== 'string') throw new ArmError(400, 'invalid_request', 'The body must be a form.');
        return { status: 200, body: tokens.grant(new URLSearchParams(body)) };
      },
    },
    {
      name: 'directory.configuration',
      method: 'GET',
      path: '/{tenant}/v2.0/.well-known/openid-configuration',
      open: true,
      handle: ({ parameters: { tenant = '' } }) => ({
        status: 200,
        body: {
          issuer: `${endpoint()}/${tenant}/v2.0`,
          authorization_endpoint: `${endpoint()}/${tenant}/oauth2/v2.0/authorize`,
          token_endpoint: `${endpoint()}/${tenant}/oauth2/v2.0/token`,
          jwks_uri: `${endpoint()}/${tenant}/discovery/v2.0/keys`,
          response_types_supported: ['token'],
          subject_types_supported: ['pairwise'],
        },
      }),
    },
    {
      name: 'metadata.token',
      method: 'GET',
      path: '/metadata/identity/oauth2/token',
      open: true,
      handle: ({ query, headers }) => {
        // The header keeps requests out that a browser or a proxy was tricked into.
        if (String(headers['metadata']).toLowerCase() !== 'true') {
          throw new ArmError(400, 'invalid_request', 'Required metadata header not specified');
        }
        return { status: 200, body: tokens.managedIdentity(query.get('resource') ?? '') };
      },
    },
    {
      name: 'retailPrices.list',
      method: 'GET',
      path: '/api/retail/prices',
      open: true,
      handle: ({ query }) => ({ status: 200, body: prices.page(query, `${endpoint()}/api/retail/prices`) }),
    },
  ];
}
