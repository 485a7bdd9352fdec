import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SeededRandom } from '../../clock/seededRandom.ts';
import { VirtualClock } from '../../clock/virtualClock.ts';
import { keepResources } from './resourceJournal.ts';
import { ResourceStore, type ArmResource } from './resourceStore.ts';
import { LocalArm } from './localArm.ts';

const SUBSCRIPTION = '00000000-0000-0000-0000-000000000001';

describe('a subscription that is kept in a journal', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'nodewright-azure-'));
    file = join(folder, 'azure.jsonl');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const resource = (name: string, properties: ArmResource['properties'] = {}): ArmResource => ({
    id: `/subscriptions/${SUBSCRIPTION}/resourceGroups/group/providers/Some.Thing/things/${name}`,
    name,
    type: 'Some.Thing/things',
    etag: '"1"',
    properties,
  });

  /** Opens the journal, changes the store and closes the journal, as one process does. */
  const write = (change: (store: ResourceStore) => void): void => {
    const store = new ResourceStore(SUBSCRIPTION);
    const end = keepResources(file, store);
    change(store);
    end();
  };

  it('restores resources of any type with their hidden members, but no deleted ones', () => {
    write((store) => {
      store.putGroup({ name: 'group', location: 'eastus', provisioningState: 'Succeeded' });
      store.putGroup({ name: 'passing', location: 'eastus', provisioningState: 'Deleting' });
      store.deleteGroup('passing');
      store.put(resource('kept', { size: 1 }));
      store.put({ ...resource('kept', { size: 2 }), hidden: { customData: 'c2VjcmV0' } });
      store.put(resource('gone'));
      store.delete(resource('gone').id);
    });
    // The second process rewrites the journal as a snapshot, which the third one reads.
    write(() => undefined);
    write((store) => {
      expect(store.all()).toEqual([{ ...resource('kept', { size: 2 }), hidden: { customData: 'c2VjcmV0' } }]);
      expect(store.allGroups().map(({ name }) => name)).toEqual(['group']);
    });
  });

  it('finishes creations and deletions that were under way', async () => {
    const clock = new VirtualClock(0);
    const options = { clock, random: new SeededRandom(1), subscriptionId: SUBSCRIPTION, stateFile: file };
    const first = new LocalArm(options);
    const group = first.nodeResourceGroup;
    await first.close();
    const id = (type: string, name: string): string =>
      `/subscriptions/${SUBSCRIPTION}/resourceGroups/${group}/providers/${type}/${name}`;
    write((store) => {
      for (const [name, provisioningState] of [
        ['coming', 'Creating'],
        ['going', 'Deleting'],
      ] as const) {
        store.put({
          ...resource(name, { provisioningState, vmId: name, hardwareProfile: { vmSize: 'Standard_D2s_v5' } }),
          id: id('Microsoft.Compute/virtualMachines', name),
          type: 'Microsoft.Compute/virtualMachines',
        });
      }
    });
    const second = new LocalArm({ ...options, random: new SeededRandom(2) });
    const seen: string[] = [];
    second.onVirtualMachine(({ type, vm }) => seen.push(`${vm.name} ${type}`));
    await clock.advance(60_000);
    expect(seen.sort()).toEqual(['coming created', 'going deleted']);
    expect(second.virtualMachines().map(({ name, provisioningState }) => [name, provisioningState])).toEqual([
      ['coming', 'Succeeded'],
    ]);
    await second.close();
  });

  it('cancels a deployment that was running, so that its template may be deployed again', async () => {
    const id = `/subscriptions/${SUBSCRIPTION}/resourceGroups/group/providers/Microsoft.Resources/deployments/one`;
    const type = 'Microsoft.Resources/deployments';
    write((store) => store.put({ ...resource('one', { provisioningState: 'Running' }), id, type }));
    const options = { clock: new VirtualClock(0), random: new SeededRandom(1), subscriptionId: SUBSCRIPTION };
    await new LocalArm({ ...options, stateFile: file }).close();
    write((store) => expect(store.find(id)?.properties['provisioningState']).toBe('Canceled'));
  });
});
