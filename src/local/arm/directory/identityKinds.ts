/** User-assigned managed identities: a row for `resourceRoutes`. */
import { textAt } from '../jsonPath.ts';
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
];
