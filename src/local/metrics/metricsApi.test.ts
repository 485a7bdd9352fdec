import { afterEach, describe, expect, it } from 'vitest';
import { Kinds } from '../../api/kinds.ts';
import { VirtualClock } from '../../clock/virtualClock.ts';
import { answerAggregated, type AggregatedResource } from '../apiserver/http/aggregatedApi.ts';
import { parseFault } from '../faults/faultKinds.ts';
import { metricsApi } from './metricsApi.ts';
import { container, instance, Simulation } from '../../../test/fixtures/local/simulation.ts';

const PODS = '/apis/metrics.k8s.io/v1beta1/namespaces/default/pods';
const NODES = '/apis/metrics.k8s.io/v1beta1/nodes';

interface Measured {
  readonly metadata: { readonly name: string };
  readonly usage?: Readonly<Record<string, string>>;
  readonly containers?: readonly { readonly name: string; readonly usage: Readonly<Record<string, string>> }[];
}

describe('metrics.k8s.io', () => {
  let simulation: Simulation;

  afterEach(() => simulation.stop());

  const items = async (path: string): Promise<readonly Measured[]> =>
    ((await simulation.kube.raw(path)) as { items: readonly Measured[] }).items;

  async function service(name: string, replicas: number, annotations: Record<string, string> = {}): Promise<void> {
    const labels = { app: name };
    await simulation.create(Kinds.Deployment, {
      metadata: { name, namespace: 'default', annotations },
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [container() as { name: string }] } },
      },
    });
  }

  it('divides the load of a workload among its ready pods', async () => {
    simulation = new Simulation();
    await simulation.boot(instance('one', { cpu: '8' }));
    await service('web', 4, { 'local.nodewright.dev/load': '0s=2' });
    await service('idle', 1);
    await simulation.advance(60_000);
    const loaded = await items(`${PODS}?labelSelector=app%3Dweb`);
    expect(loaded.map(({ containers }) => containers)).toEqual(
      Array.from({ length: 4 }, () => [{ name: 'main', usage: { cpu: '500000000n', memory: '524288Ki' } }]),
    );
    const [idle] = await items(`${PODS}?labelSelector=app%3Didle`);
    expect(idle?.containers).toEqual([{ name: 'main', usage: { cpu: '25000000n', memory: '262144Ki' } }]);
    // Two cores for the load, 25 millicores for the idle pod, 60 for the system.
    expect((await items(NODES)).map(({ usage }) => usage?.['cpu'])).toEqual(['2085000000n']);
  });

  it('omits pods that have just started and silent nodes', async () => {
    simulation = new Simulation();
    await simulation.boot(instance('one'), instance('two'));
    await simulation.advance(30_000);
    expect((await items(NODES)).map(({ metadata }) => metadata.name)).toEqual(['one', 'two']);
    await service('web', 1);
    await simulation.advance(5_000);
    expect(await items(PODS)).toEqual([]);
    await simulation.advance(30_000);
    expect(await items(PODS)).toHaveLength(1);
    simulation.world.faults.add(parseFault('silent-kubelet node=one'));
    expect((await items(NODES)).map(({ metadata }) => metadata.name)).toEqual(['two']);
    await expect(simulation.kube.raw(`${NODES}/one`)).rejects.toThrow('nodemetrics.metrics.k8s.io "one" not found');
    await expect(simulation.kube.raw(`${PODS}/none`)).rejects.toThrow(
      'podmetrics.metrics.k8s.io "default/none" not found',
    );
  });

  it('is listed in discovery', async () => {
    simulation = new Simulation();
    const list = (await simulation.kube.raw('/apis/metrics.k8s.io/v1beta1')) as { resources: { name: string }[] };
    expect(list.resources.map(({ name }) => name)).toEqual(['nodes', 'pods']);
    const groups = (await simulation.kube.raw('/apis')) as { groups: { name: string }[] };
    expect(groups.groups.map(({ name }) => name)).toContain('metrics.k8s.io');
    await expect(simulation.kube.raw('/apis/metrics.k8s.io/v1beta1/services')).rejects.toThrow('could not find');
  });
});

describe('an aggregated API', () => {
  it.each([
    ['application/json', '{"kind":"NodeMetricsList","apiVersion":"metrics.k8s.io/v1beta1","metadata":{},"items":[{'],
    ['application/yaml', 'apiVersion: metrics.k8s.io/v1beta1\nitems:\n'],
    ['application/json;as=Table;v=v1;g=meta.k8s.io', '{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{},'],
    ['application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io', '{"kind":"PartialObjectMetadataList",'],
  ])('answers as %s', (accept, start) => {
    const [nodes] = metricsApi(() => {
      throw new Error('not asked');
    });
    const one = { kind: 'NodeMetrics', apiVersion: 'metrics.k8s.io/v1beta1', metadata: { name: 'one' } };
    const request = {
      method: 'GET',
      path: NODES,
      query: new URLSearchParams(),
      headers: { accept },
      body: Buffer.alloc(0),
      user: { name: 'reader', groups: [] },
      signal: new AbortController().signal,
    };
    const none = { namespace: undefined, name: undefined, subresource: undefined };
    const path = { group: 'metrics.k8s.io', version: 'v1beta1', plural: 'nodes', ...none };
    const answer = answerAggregated(
      request,
      path,
      { ...(nodes as AggregatedResource), all: () => [one] },
      new VirtualClock(),
    );
    expect(answer.body).toEqual(expect.stringContaining(start));
  });
});
