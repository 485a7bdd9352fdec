import { beforeEach, describe, expect, it } from 'vitest';
import { SeededRandom } from '../../clock/seededRandom.ts';
import { VirtualClock } from '../../clock/virtualClock.ts';
import type { ArmContext } from './armContext.ts';
import { Operations } from './operations.ts';
import { ResourceGraph } from './resourceGraph.ts';
import { ResourceStore } from './resourceStore.ts';
import { SkuCatalogue } from '../../catalogue/skuCatalogue.ts';

const MACHINES = 'Microsoft.Compute/virtualMachines';
const INTERFACES = 'Microsoft.Network/networkInterfaces';

interface Page {
  readonly data: readonly { readonly name: string }[];
  readonly $skipToken?: string;
}

describe('Resource Graph', () => {
  let store: ResourceStore;
  let query: (text: string, options?: object) => Page;

  beforeEach(() => {
    const clock = new VirtualClock(0);
    const random = new SeededRandom(1);
    store = new ResourceStore('sub');
    store.addGroup('MC_One');
    store.addGroup('MC_Two');
    const context: ArmContext = {
      clock,
      random,
      store,
      operations: new Operations(clock, random),
      catalogue: new SkuCatalogue('eastus'),
      location: 'eastus',
      durations: { networkInterface: 0, virtualMachineCreate: 0, virtualMachineDelete: 0, extension: 0 },
      endpoint: () => 'https://127.0.0.1',
    };
    const route = new ResourceGraph(context, [MACHINES, INTERFACES]).routes()[0];
    query = (text, options = {}) =>
      route?.handle({
        method: 'POST',
        path: route.path,
        query: new URLSearchParams(),
        headers: {},
        body: { query: text, options },
        parameters: {},
        lateFault: undefined,
      }).body as Page;
    put('MC_One', MACHINES, 'pooled', { 'karpenter.sh_nodepool': 'default', 'karpenter.azure.com_cluster': 'a' });
    put('MC_One', MACHINES, 'alone', { 'karpenter.azure.com_cluster': 'a' });
    put('MC_One', MACHINES, 'managed', {
      'karpenter.sh_nodepool': 'default',
      'karpenter.azure.com_aksmachine_nodeclaim': 'managed',
    });
    put('MC_One', INTERFACES, 'pooled-nic', { 'karpenter.sh_nodepool': 'default' });
    put('MC_Two', MACHINES, 'elsewhere', { 'karpenter.sh_nodepool': 'default', 'karpenter.azure.com_cluster': 'b' });
  });

  function put(group: string, type: string, name: string, tags: Record<string, string>): void {
    store.put({ id: store.idOf(group, type, name), name, type, location: 'eastus', tags, etag: '', properties: {} });
  }

  const names = (text: string): string[] => query(text).data.map(({ name }) => name);

  it('answers the questions of provisioners', () => {
    const karpenter = (type: string): string =>
      `Resources | where type == "${type}" | where resourceGroup == tolower("MC_One")` +
      ' | where tags contains_cs "karpenter.sh_nodepool"' +
      ' | where tags !contains_cs "karpenter.azure.com_aksmachine_nodeclaim"';
    expect(names(karpenter('microsoft.compute/virtualmachines'))).toEqual(['pooled']);
    expect(names(karpenter('microsoft.network/networkinterfaces'))).toEqual(['pooled-nic']);
    expect(
      names(
        `Resources | where type == "microsoft.compute/virtualmachines" | where tags['karpenter.azure.com_cluster'] == "a"`,
      ),
    ).toEqual(['alone', 'pooled']);
    expect(names(`resources | where name =~ 'ALONE' or name == "elsewhere"`)).toEqual(['alone', 'elsewhere']);
  });

  it('pages', () => {
    const seen: string[] = [];
    let options: object = { $top: 2 };
    for (let page = 0; page < 5; page += 1) {
      const { data, $skipToken } = query('Resources', options);
      seen.push(...data.map(({ name }) => name));
      if ($skipToken === undefined) break;
      options = { $top: 2, $skipToken };
    }
    expect(seen).toEqual(['alone', 'managed', 'pooled', 'elsewhere', 'pooled-nic']);
  });

  it.each(['Containers | where a == "b"', 'Resources | summarize count()', 'Resources | where moon == "full"'])(
    'refuses %s',
    (text) => {
      expect(() => query(text)).toThrow(/^The query is invalid\./);
    },
  );
});
