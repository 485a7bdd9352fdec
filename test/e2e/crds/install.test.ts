import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startControlPlane } from '../../controlplane/controlPlane.ts';
import type { ControlPlane } from '../../controlplane/controlPlane.ts';

const TEMPLATES = join(fileURLToPath(new URL('../../..', import.meta.url)), 'charts/nodewright-crd/templates');
const COUNT = readdirSync(TEMPLATES).length;

describe('the definitions on a real API server', () => {
  let plane: ControlPlane;

  beforeAll(async () => {
    plane = await startControlPlane();
  });

  afterAll(async () => {
    await plane?.stop();
  });

  const kubectl = async (args: readonly string[], input?: string): Promise<string> => {
    const result = await plane.kubectl(args, input === undefined ? {} : { input });
    expect(result, `kubectl ${args.join(' ')}`).toMatchObject({ code: 0 });
    return result.stdout;
  };

  it('install without a warning, and again without a change', async () => {
    const apply = ['apply', '--server-side', '-f', TEMPLATES];
    const first = await plane.kubectl(apply);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout.match(/serverside-applied/g)).toHaveLength(COUNT);
    await kubectl(['wait', '--for=condition=Established', '--timeout=60s', 'crd', '--all']);
    const generations = ['get', 'crd', '-o', 'jsonpath={.items[*].metadata.generation}'];
    const before = await kubectl(generations);
    await kubectl(apply);
    expect(await kubectl(generations)).toBe(before);
  });

  it('have accepted names and structural schemas', async () => {
    const { items } = JSON.parse(await kubectl(['get', 'crd', '-o', 'json'])) as {
      items: { metadata: { name: string }; status: { conditions: { type: string; status: string }[] } }[];
    };
    for (const crd of items) {
      const found = Object.fromEntries(crd.status.conditions.map(({ type, status }) => [type, status]));
      expect({ name: crd.metadata.name, ...found }).toMatchObject({ NamesAccepted: 'True', Established: 'True' });
      expect(found).not.toHaveProperty('NonStructuralSchema');
    }
  });

  it('answer to their short names and categories', async () => {
    for (const name of ['nodepool', 'nodeclaim', 'overlays', 'aksnc', 'aksncs', 'cb', 'kwoknc', 'karpenter', 'nap']) {
      expect(`${name}: ${(await plane.kubectl(['get', name])).stderr}`).toContain('No resources found');
    }
  });

  it('teach with kubectl explain', async () => {
    const text = await kubectl(['explain', 'nodepool.spec.disruption']);
    expect(text.replaceAll(/\s+/g, ' ')).toContain('When and how fast nodes of this pool are removed or replaced');
    expect(text).toContain('consolidateAfter');
    expect(text).toContain('-required-');
    expect(await kubectl(['explain', 'aksnodeclass.spec.kubelet', '--recursive'])).toContain('cpuManagerPolicy');
  });

  it('show the columns that users know', async () => {
    const pool = {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodePool',
      metadata: { name: 'default' },
      spec: {
        template: {
          spec: {
            nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'ubuntu' },
            requirements: [],
          },
        },
        weight: 7,
      },
    };
    await kubectl(['create', '-f', '-'], JSON.stringify(pool));
    const columns = (text: string) => (text.split('\n')[0] ?? '').split(/\s+/).filter((name) => name !== '');
    expect(columns(await kubectl(['get', 'nodepools', '-o', 'wide']))).toEqual([
      'NAME',
      'NODECLASS',
      'NODES',
      'READY',
      'AGE',
      'WEIGHT',
      'CPU',
      'MEMORY',
    ]);
    expect(columns(await kubectl(['get', 'nodepools']))).toEqual(['NAME', 'NODECLASS', 'NODES', 'READY', 'AGE']);
    const claim = {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodeClaim',
      metadata: { name: 'default-x' },
      spec: { nodeClassRef: { group: 'g', kind: 'k', name: 'n' }, requirements: [] },
    };
    await kubectl(['create', '-f', '-'], JSON.stringify(claim));
    expect(columns(await kubectl(['get', 'nodeclaims', '-o', 'wide']))).toEqual([
      'NAME',
      'TYPE',
      'CAPACITY',
      'ZONE',
      'NODE',
      'READY',
      'AGE',
      'NODEPOOL',
      'NODECLASS',
      'DRIFTED',
    ]);
  });

  it('serve the old version of AKSNodeClass with a warning', async () => {
    const old = {
      apiVersion: 'karpenter.azure.com/v1alpha2',
      kind: 'AKSNodeClass',
      metadata: { name: 'old' },
      spec: {},
    };
    const created = await plane.kubectl(['create', '-f', '-'], { input: JSON.stringify(old) });
    expect(created.code).toBe(0);
    expect(created.stderr).toContain('Warning: use v1beta1.AKSNodeClass instead');
    expect(await kubectl(['get', 'aksnodeclass', 'old', '-o', 'jsonpath={.apiVersion} {.spec.imageFamily}'])).toBe(
      'karpenter.azure.com/v1beta1 Ubuntu',
    );
  });

  it('scale static pools, and refuse to scale dynamic ones', async () => {
    const refused = await plane.kubectl(['scale', 'nodepool', 'default', '--replicas=0']);
    expect(refused.stderr).toContain('cannot be changed between static');
    const pool = {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodePool',
      metadata: { name: 'fixed' },
      spec: {
        template: { spec: { nodeClassRef: { group: 'g', kind: 'k', name: 'n' }, requirements: [] } },
        replicas: 1,
      },
    };
    await kubectl(['create', '-f', '-'], JSON.stringify(pool));
    await kubectl(['scale', 'nodepool', 'fixed', '--replicas=4']);
    expect(await kubectl(['get', 'nodepool', 'fixed', '-o', 'jsonpath={.spec.replicas}'])).toBe('4');
  });
});
