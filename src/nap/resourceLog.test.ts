import { expect, it } from 'vitest';
import { Kinds } from '../api/kinds.ts';
import { SeededRandom } from '../clock/seededRandom.ts';
import { VirtualClock } from '../clock/virtualClock.ts';
import { LocalApiServer } from '../local/apiserver/localApiServer.ts';
import { withResourceLog } from './resourceLog.ts';

it('has the events of nodewright as JSON lines of the category karpenter-events, and nothing else', async () => {
  const clock = new VirtualClock(Date.parse('2026-11-16T12:00:00Z'));
  const server = new LocalApiServer({ clock, random: new SeededRandom(1) });
  const lines: string[] = [];
  const resourceId = '/subscriptions/s/resourcegroups/g/providers/Microsoft.ContainerService/managedClusters/c';
  const kube = withResourceLog(server.kube, { resourceId, clock, write: (line) => lines.push(line) });
  const metadata = { name: 'launched', namespace: 'default' };
  await kube.create(Kinds.ConfigMap, { metadata: { name: 'silent', namespace: 'default' }, data: { secret: 'word' } });
  await kube.create(Kinds.Event, {
    metadata,
    type: 'Normal',
    reason: 'Launched',
    message: 'bought an instance',
    count: 1,
    involvedObject: { kind: 'NodeClaim', name: 'default-x1' },
    source: { component: 'karpenter' },
  });
  await kube.patch(Kinds.Event, metadata, { type: 'merge', body: { count: 2 } });
  // A write that fails is not in the log.
  await expect(kube.patch(Kinds.Event, { ...metadata, name: 'none' }, { type: 'merge', body: {} })).rejects.toThrow(
    'not found',
  );
  expect((await kube.list(Kinds.Event)).items).toHaveLength(1);
  const records = lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
  expect(records).toHaveLength(2);
  expect(records[0]).toMatchObject({
    time: '2026-11-16T12:00:00.000Z',
    resourceId: resourceId.toUpperCase(),
    category: 'karpenter-events',
  });
  const logs = records.map(({ properties }) => JSON.parse((properties as { readonly log: string }).log) as object);
  expect(logs).toMatchObject([
    { reason: 'Launched', message: 'bought an instance', count: 1, involvedObject: { name: 'default-x1' } },
    { count: 2 },
  ]);
});
