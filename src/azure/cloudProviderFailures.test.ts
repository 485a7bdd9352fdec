import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { READY } from '../api/conditionTypes.ts';
import { Kinds, type Node } from '../api/kinds.ts';
import type { AksNodeClass } from '../api/kinds/aksNodeClass.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import { Annotations, Labels } from '../api/labels.ts';
import type { DriftSubject } from '../cloud/cloudProvider.ts';
import {
  InstanceNotFoundError,
  InsufficientCapacityError,
  LaunchError,
  NodeClassNotReadyError,
} from '../cloud/errors.ts';
import { ArmError } from '../local/arm/armError.ts';
import { claimNamed, ProviderRig } from '../../test/fixtures/azure/providerRig.ts';

describe('AzureCloudProvider', () => {
  let rig: ProviderRig;

  beforeEach(async () => {
    rig = await ProviderRig.start();
  });
  afterEach(() => rig.arm.close());

  it('deletes until nothing is left', async () => {
    const instance = await rig.finish(rig.launch(claimNamed('one')));
    const claim = { ...claimNamed('one'), status: { providerID: instance.providerID } };
    await rig.finish(rig.cloud.delete(claim));
    expect(await rig.cloud.get(instance.providerID)).toMatchObject({ deleting: true });
    await rig.finish(rig.cloud.delete(claim));
    await rig.clock.advance(60_000);
    expect(rig.arm.virtualMachines()).toEqual([]);
    await expect(rig.finish(rig.cloud.delete(claim))).rejects.toBeInstanceOf(InstanceNotFoundError);
    await expect(rig.cloud.get(instance.providerID)).rejects.toBeInstanceOf(InstanceNotFoundError);
    expect(await rig.cloud.list()).toEqual([]);
  });

  it('removes an interface that was left without a VM', async () => {
    const crash = new AbortController();
    const first = rig.launch(claimNamed('one'), crash.signal);
    first.catch(() => undefined);
    await rig.clock.runUntil(() => rig.calls.includes('networkInterfaces.createOrUpdate'));
    crash.abort(new Error('crash'));
    await expect(rig.finish(first)).rejects.toThrow(/crash|abort/i);
    await rig.finish(rig.cloud.delete(claimNamed('one')));
    await rig.clock.advance(60_000);
    await expect(rig.finish(rig.cloud.delete(claimNamed('one')))).rejects.toBeInstanceOf(InstanceNotFoundError);
  });

  it('removes interfaces left by refused launches, once Azure releases them, and no others', async () => {
    const { labels } = await rig.finish(rig.launch(claimNamed('kept')));
    const crash = new AbortController();
    const begun = rig.launch(claimNamed('begun'), crash.signal);
    begun.catch(() => undefined);
    const seen = rig.calls.length;
    await rig.clock.runUntil(() => rig.calls.slice(seen).includes('networkInterfaces.createOrUpdate'));
    crash.abort(new Error('crash'));
    await expect(rig.finish(begun)).rejects.toThrow(/crash|abort/i);
    const size = labels[Labels.instanceType] ?? '';
    rig.arm.restrict({ size });
    const only = claimNamed('refused', [{ key: Labels.instanceType, operator: 'In', values: [size] }]);
    await expect(rig.finish(rig.launch(only))).rejects.toBeInstanceOf(InsufficientCapacityError);
    expect(await rig.interfaces()).toEqual(['aks-begun', 'aks-kept', 'aks-refused']);
    const tidy = (): Promise<readonly string[]> => rig.finish(rig.cloud.leftovers.remove(() => ['begun']));
    expect(await tidy()).toEqual([]);
    await rig.clock.advance(200_000);
    expect(await tidy()).toEqual(['aks-refused']);
    await rig.clock.advance(60_000);
    expect(await rig.interfaces()).toEqual(['aks-begun', 'aks-kept']);
  });

  it('remembers a full zone, cleans up, and uses another', async () => {
    const error = new ArmError(409, 'ZonalAllocationFailed', 'No room in the zone.');
    const before = await rig.instanceTypes();
    rig.failNext('virtualMachines.createOrUpdate', { kind: 'failLate', error });
    const failures: Error[] = [];
    await rig.finish(rig.launch(claimNamed('one'), undefined, (failure) => failures.push(failure)));
    await rig.clock.advance(2 * 60_000);
    expect(failures).toMatchObject([{ name: 'LaunchError', reason: 'ZonalAllocationFailure' }]);
    expect(rig.arm.virtualMachines()).toEqual([]);
    await expect(rig.finish(rig.cloud.delete(claimNamed('one')))).rejects.toBeInstanceOf(InstanceNotFoundError);
    const instance = await rig.finish(rig.launch(claimNamed('one')));
    expect(instance.labels[Labels.zone]).toBe('eastus-2');
    const after = await rig.instanceTypes();
    const changed = after.filter((type, index) => type !== before[index]).map(({ name }) => name);
    expect(changed).toContain('Standard_D96as_v5');
    expect(changed.every((name) => /^Standard_D\d+as_v5$/.test(name))).toBe(true);
  });

  it('forgets a launch whose claim is deleted in the meantime', async () => {
    const error = new ArmError(409, 'ZonalAllocationFailed', 'No room in the zone.');
    rig.failNext('virtualMachines.createOrUpdate', { kind: 'failLate', error });
    const failures: Error[] = [];
    await rig.finish(rig.launch(claimNamed('one'), undefined, (failure) => failures.push(failure)));
    await rig.finish(rig.cloud.delete(claimNamed('one')));
    await rig.clock.advance(2 * 60_000);
    expect(failures).toEqual([]);
    await expect(rig.finish(rig.cloud.delete(claimNamed('one')))).rejects.toBeInstanceOf(InstanceNotFoundError);
  });

  it('avoids a family whose quota is used up, and trusts the figures for a while', async () => {
    const family = 'standardDASv5Family';
    const available = async (): Promise<string[]> => {
      const types = await rig.instanceTypes();
      await rig.clock.idle();
      const wanted = types.filter(({ name }) => ['Standard_D2as_v5', 'Standard_D4as_v5'].includes(name));
      return wanted.flatMap(({ name, offerings }) => {
        const bought = offerings.filter((one) => one.available && one.zone === 'eastus-1');
        return bought.map(({ capacityType }) => `${name} ${capacityType}`);
      });
    };
    await rig.arm.close();
    rig = await ProviderRig.start({ quota: { [family]: 4 } });
    await rig.finish(rig.launch(claimNamed('one')));
    // Launches count at once, before Azure's figures include them.
    expect(await available()).toEqual(['Standard_D2as_v5 on-demand', 'Standard_D2as_v5 spot', 'Standard_D4as_v5 spot']);
    // Figures are refreshed by a loop of their own, whether anything is planned or not.
    const stop = new AbortController();
    const refreshing = rig.cloud.refreshes.run(stop.signal);
    await rig.clock.advance(10 * 60_000);
    stop.abort();
    await refreshing;
    expect(await available()).toEqual(['Standard_D2as_v5 on-demand', 'Standard_D2as_v5 spot', 'Standard_D4as_v5 spot']);
    const second = await rig.finish(rig.launch(claimNamed('two')));
    expect(second.labels[Labels.instanceType]).toBe('Standard_D2as_v5');
    const third = await rig.finish(rig.launch(claimNamed('three')));
    expect(third.labels[Labels.instanceType]).not.toBe('Standard_D2as_v5');
  });

  it('does not wait for operations that are reported complete long after', async () => {
    for (const operation of ['networkInterfaces.createOrUpdate', 'virtualMachines.createOrUpdate']) {
      rig.failNext(operation, { kind: 'finishLate', milliseconds: 600_000 });
    }
    const began = rig.clock.now();
    await rig.finish(rig.launch(claimNamed('one')));
    expect(rig.clock.now() - began).toBeLessThan(30_000);
  });

  it('waits as long as Azure asks when it is throttled', async () => {
    const error = new ArmError(429, 'TooManyRequests', 'Slow down.', { headers: { 'retry-after': '17' } });
    rig.failNext('virtualMachines.get', { kind: 'refuse', error }, 2);
    const began = rig.clock.now();
    await expect(
      rig.finish(
        rig.cloud.get('azure:///subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/x'),
      ),
    ).rejects.toBeInstanceOf(InstanceNotFoundError);
    expect(rig.clock.now() - began).toBe(34_000);
  });

  it('waits through a throttled launch, whichever of Azure’s services is busy', async () => {
    const error = new ArmError(429, 'SubscriptionRequestsThrottled', 'Slow down.', { headers: { 'retry-after': '5' } });
    rig.failNext('networkInterfaces.createOrUpdate', { kind: 'refuse', error }, 6);
    rig.failNext('virtualMachines.createOrUpdate', { kind: 'refuse', error }, 6);
    const began = rig.clock.now();
    await rig.finish(rig.launch(claimNamed('one')));
    expect(rig.clock.now() - began).toBeGreaterThan(60_000);
    await rig.clock.advance(60_000);
    expect(rig.arm.virtualMachines()).toMatchObject([{ name: 'aks-one', provisioningState: 'Succeeded' }]);
    expect(rig.calls.filter((name) => name === 'networkInterfaces.createOrUpdate')).toHaveLength(7);
  });

  it('keeps the access token out of errors', async () => {
    const error = new ArmError(403, 'AuthorizationFailed', 'No.');
    rig.failNext('virtualMachines.get', { kind: 'refuse', error });
    const id = 'azure:///subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/x';
    const thrown: unknown = await rig.finish(rig.cloud.get(id)).catch((caught: unknown) => caught);
    expect(thrown).toMatchObject({ statusCode: 403, code: 'AuthorizationFailed' });
    expect(JSON.stringify((thrown as { request?: unknown }).request)).not.toContain('Bearer');
  });

  it('refuses to launch from a class that is not ready, or not ready for its present spec', async () => {
    const claim = claimNamed('one');
    const from = (name: string): NodeClaim => ({
      ...claim,
      spec: { ...claim.spec, nodeClassRef: { ...claim.spec.nodeClassRef, name } },
    });
    await rig.makeNodeClass('fips', { fipsMode: 'FIPS', imageFamily: 'AzureLinux' });
    await expect(rig.finish(rig.launch(from('fips')))).rejects.toBeInstanceOf(NodeClassNotReadyError);
    const edited = await rig.makeNodeClass('edited');
    await rig.kube.replace(Kinds.AKSNodeClass, { ...edited, spec: { imageFamily: 'Ubuntu', osDiskSizeGB: 256 } });
    await expect(rig.finish(rig.launch(from('edited')))).rejects.toBeInstanceOf(LaunchError);
  });

  it('resolves the status of a class, and reports its problems', async () => {
    const good = await rig.kube.get(Kinds.AKSNodeClass, { name: 'default' });
    expect(good.status).toMatchObject({ kubernetesVersion: '1.36.3', localDNSState: 'Disabled' });
    expect(good.status?.images?.map(({ id }) => id.split('/')[4])).toEqual([
      '2404gen2containerd',
      '2404containerd',
      '2404gen2arm64containerd',
    ]);
    expect(good.status?.conditions?.find(({ type }) => type === READY)?.status).toBe('True');
    const lost = await rig.makeNodeClass('lost', {
      vnetSubnetID: rig.arm.network.subnetId.replace('aks-vnet', 'my-vnet'),
    });
    expect(lost.status?.conditions?.find(({ type }) => type === 'SubnetsReady')).toMatchObject({
      status: 'False',
      reason: 'SubnetIDInvalid',
    });
    expect(lost.status?.conditions?.find(({ type }) => type === READY)?.status).toBe('False');
  });

  it('names the differences between an instance and its class', async () => {
    const instance = await rig.finish(rig.launch(claimNamed('one')));
    const bare = claimNamed('one');
    const claim: NodeClaim = {
      ...bare,
      metadata: { ...bare.metadata, annotations: { ...instance.annotations } },
      status: { providerID: instance.providerID, imageID: instance.imageID ?? '' },
    };
    const nodeClass = await rig.nodeClassNamed('default');
    const drift = (subject: Partial<DriftSubject<AksNodeClass>>): Promise<string | undefined> =>
      rig.cloud.driftReason({ claim, nodeClass, node: undefined, ...subject });
    expect(await drift({})).toBeUndefined();
    expect(await drift({ claim: { ...claim, status: { ...claim.status, imageID: 'old' } } })).toBe('ImageDrift');
    const annotations = { ...instance.annotations, [Annotations.aksNodeClassHash]: '1' };
    const edited = { ...nodeClass, metadata: { ...nodeClass.metadata, annotations } };
    expect(await drift({ nodeClass: edited })).toBe('NodeClassDrift');
    const node: Node = {
      metadata: { name: 'aks-one' },
      status: { nodeInfo: { kubeletVersion: 'v1.35.0' } as NonNullable<NonNullable<Node['status']>['nodeInfo']> },
    };
    expect(await drift({ node })).toBe('K8sVersionDrift');
  });
});
