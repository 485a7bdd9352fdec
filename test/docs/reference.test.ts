import { join } from 'node:path';
import { expect, it } from 'vitest';
import { renderCrds } from '../../src/api/crds.ts';
import { renderReferenceMarkdown } from '../../scripts/build-docs.ts';

it('the reference has every kind with its fields, conditions, events and metrics', () => {
  const page = renderReferenceMarkdown(join(import.meta.dirname, '../..'));
  for (const { spec } of renderCrds()) expect(page).toContain(`## ${spec.names.kind}`);
  for (const part of [
    '| `spec.template.spec.requirements[].key` | string |',
    '`NodeRegistrationHealthy`',
    '- `DisruptionBlocked`',
    '| `karpenter_nodeclaims_created_total` |',
  ]) {
    expect(page).toContain(part);
  }
});
