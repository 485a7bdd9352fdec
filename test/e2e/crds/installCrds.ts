/** Installs CRDs on a control plane and waits until all of them are served. */
import { expect } from 'vitest';
import type { CustomResourceDefinition } from '../../../src/api/kinds.ts';
import type { ControlPlane } from '../../controlplane/controlPlane.ts';

export async function installCrds(plane: ControlPlane, crds: readonly CustomResourceDefinition[]): Promise<void> {
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: crds });
  const applied = await plane.kubectl(['apply', '--server-side', '-f', '-'], { input });
  expect(applied, 'kubectl apply --server-side').toMatchObject({ code: 0, stderr: '' });
  const names = crds.map((crd) => `crd/${crd.metadata.name}`);
  const waited = await plane.kubectl(['wait', '--for=condition=Established', '--timeout=60s', ...names]);
  expect(waited, 'all definitions established').toMatchObject({ code: 0 });
}
