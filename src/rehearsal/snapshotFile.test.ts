import { expect, it } from 'vitest';
import { Kinds } from '../api/kinds.ts';
import { withoutSecretFields } from './snapshotFile.ts';

it('keeps labels, selectors and requests whose names are also those of fields that a snapshot leaves out', () => {
  const labels = { env: 'prod', data: 'hot', hostname: 'db', command: 'serve' };
  const labelSelector = { matchLabels: labels };
  const pod = {
    metadata: { name: 'db-0', namespace: 'default', labels },
    spec: {
      nodeSelector: { env: 'prod' },
      hostname: 'secret-host',
      containers: [{ name: 'main', image: 'app', env: [{ name: 'PASSWORD', value: 'secret' }] }],
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector },
      ],
    },
  };
  const kept = withoutSecretFields(pod, Kinds.Pod);
  expect(kept).toMatchObject({
    metadata: { labels },
    spec: { nodeSelector: { env: 'prod' }, topologySpreadConstraints: [{ labelSelector }] },
  });
  expect(JSON.stringify(kept)).not.toContain('secret');
});

it('keeps the tags of a node class, which make its nodes drift', () => {
  const nodeClass = { metadata: { name: 'default' }, spec: { tags: { env: 'prod', data: 'hot' } } };
  expect(withoutSecretFields(nodeClass, Kinds.AKSNodeClass)).toMatchObject({ spec: { tags: nodeClass.spec.tags } });
});
