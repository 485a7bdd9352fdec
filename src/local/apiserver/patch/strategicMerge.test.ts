import { describe, expect, it } from 'vitest';
import type { Fields } from '../fields.ts';
import { shapeNamed } from '../kubernetesTypes.ts';
import { applyStrategicMerge } from './strategicMerge.ts';

const POD = shapeNamed('io.k8s.api.core.v1.Pod');
const DEPLOYMENT = shapeNamed('io.k8s.api.apps.v1.Deployment');
const NODE = shapeNamed('io.k8s.api.core.v1.Node');

const containers = (...list: unknown[]): Fields => ({ spec: { containers: list } });

describe('strategic merge', () => {
  it('merges containers by name and their environment by name', () => {
    const live = containers({ name: 'a', image: 'x', env: [{ name: 'K', value: '1' }] }, { name: 'b', image: 'y' });
    const patch = containers({
      name: 'a',
      env: [
        { name: 'L', value: '2' },
        { name: 'K', value: '3' },
      ],
    });
    expect(applyStrategicMerge(POD, live, patch)).toEqual(
      containers(
        {
          name: 'a',
          image: 'x',
          env: [
            { name: 'L', value: '2' },
            { name: 'K', value: '3' },
          ],
        },
        { name: 'b', image: 'y' },
      ),
    );
  });

  it('deletes list items with $patch and map members with null', () => {
    const live = { metadata: { labels: { a: '1', b: '2' } }, ...containers({ name: 'a' }, { name: 'b' }) };
    const patch = { metadata: { labels: { a: null } }, ...containers({ name: 'b', $patch: 'delete' }) };
    expect(applyStrategicMerge(POD, live, patch)).toEqual({
      metadata: { labels: { b: '2' } },
      ...containers({ name: 'a' }),
    });
  });

  it('replaces a whole list or map with $patch', () => {
    const live = { metadata: { labels: { a: '1' } }, ...containers({ name: 'a' }) };
    const patch = {
      metadata: { labels: { $patch: 'replace', z: '9' } },
      ...containers({ name: 'n', image: 'i' }, { $patch: 'replace' }),
    };
    expect(applyStrategicMerge(POD, live, patch)).toEqual({
      metadata: { labels: { z: '9' } },
      ...containers({ name: 'n', image: 'i' }),
    });
  });

  it('replaces lists that have no merge strategy', () => {
    const live = { spec: { tolerations: [{ key: 'a' }, { key: 'b' }] } };
    expect(applyStrategicMerge(POD, live, { spec: { tolerations: [{ key: 'c' }] } })).toEqual({
      spec: { tolerations: [{ key: 'c' }] },
    });
  });

  it('merges conditions by type', () => {
    const live = {
      status: {
        conditions: [
          { type: 'Ready', status: 'False' },
          { type: 'MemoryPressure', status: 'False' },
        ],
      },
    };
    const patch = { status: { conditions: [{ type: 'Ready', status: 'True' }] } };
    expect(applyStrategicMerge(NODE, live, patch)).toEqual({
      status: {
        conditions: [
          { type: 'Ready', status: 'True' },
          { type: 'MemoryPressure', status: 'False' },
        ],
      },
    });
  });

  it('adds to and deletes from lists of plain values', () => {
    const live = { metadata: { finalizers: ['a', 'b'] } };
    expect(applyStrategicMerge(POD, live, { metadata: { finalizers: ['c'] } })).toEqual({
      metadata: { finalizers: ['c', 'a', 'b'] },
    });
    const removal = { metadata: { '$deleteFromPrimitiveList/finalizers': ['a'] } };
    expect(applyStrategicMerge(POD, live, removal)).toEqual({ metadata: { finalizers: ['b'] } });
  });

  it('keeps only $retainKeys of a union', () => {
    const live = { spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } } };
    const patch = { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } };
    expect(applyStrategicMerge(DEPLOYMENT, live, patch)).toEqual({ spec: { strategy: { type: 'Recreate' } } });
  });

  it('orders by $setElementOrder, and keeps the places of other items', () => {
    const live = containers({ name: 'a' }, { name: 'injected' }, { name: 'b' });
    const patch = {
      spec: {
        '$setElementOrder/containers': [{ name: 'c' }, { name: 'b' }, { name: 'a' }],
        containers: [{ name: 'c' }],
      },
    };
    expect(applyStrategicMerge(POD, live, patch)).toEqual(
      containers({ name: 'c' }, { name: 'injected' }, { name: 'b' }, { name: 'a' }),
    );
  });

  it('rejects an item without its merge key and an unknown directive', () => {
    expect(() => applyStrategicMerge(POD, {}, containers({ image: 'x' }))).toThrow(
      'does not contain declared merge key: name',
    );
    expect(() => applyStrategicMerge(POD, {}, { spec: { $patch: 'explode' } })).toThrow('Unknown patch type');
  });

  it('never changes the live object', () => {
    const live = Object.freeze({
      spec: Object.freeze({ containers: Object.freeze([Object.freeze({ name: 'a', image: 'x' })]) }),
    });
    const patched = applyStrategicMerge(POD, live, containers({ name: 'a', image: 'y' }));
    expect(patched).toEqual(containers({ name: 'a', image: 'y' }));
    expect(live.spec.containers[0]?.image).toBe('x');
  });
});
