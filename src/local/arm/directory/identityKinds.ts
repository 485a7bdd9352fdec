/** Resource kinds of user-assigned managed identities and their federated credentials, for `resourceRoutes`. */
import { listAt, objectAt, textAt } from '../jsonPath.ts';
import { refusal } from '../refusal.ts';
import type { ResourceKind } from '../resources/resourceKind.ts';

export const IDENTITY_KINDS: readonly ResourceKind[] = [
  {
    type: 'Microsoft.ManagedIdentity/userAssignedIdentities',
    tracked: true,
    put: 'sync',
    patch: 'tags',
    remove: 'sync',
    duration: 'other',
    properties: ({ existing, context }) => ({
      tenantId: textAt(existing?.properties, 'tenantId') ?? context.random.uuid(),
      principalId: textAt(existing?.properties, 'principalId') ?? context.random.uuid(),
      clientId: textAt(existing?.properties, 'clientId') ?? context.random.uuid(),
    }),
  },
  {
    type: 'Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials',
    tracked: false,
    put: 'sync',
    remove: 'sync',
    duration: 'other',
    properties: ({ body }) => {
      const given = objectAt(body, 'properties');
      for (const member of ['issuer', 'subject']) {
        if ((textAt(given, member) ?? '') === '') throw refusal('InvalidFederatedCredential', { member });
      }
      return { issuer: given['issuer'], subject: given['subject'], audiences: listAt(given, 'audiences') };
    },
  },
];
