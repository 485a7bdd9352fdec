import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bootInstance } from '../../kubelet/bootInstance.ts';
import { ArmFixture, collect, POLL, type Answer } from '../../../../test/fixtures/local/armFixture.ts';

const PREVIEW = 'api-version=2025-07-02-preview';

interface MachineBody {
  readonly name: string;
  readonly zones?: readonly string[];
  readonly properties: {
    readonly provisioningState: string;
    readonly resourceId: string;
    readonly eTag: string;
    readonly tags: Readonly<Record<string, string>>;
    readonly priority?: string;
    readonly status: { readonly provisioningError?: unknown };
  };
}

describe('the container service through @azure/arm-containerservice', () => {
  let fixture: ArmFixture;

  beforeAll(async () => {
    fixture = await ArmFixture.start();
  });
  afterAll(() => fixture.close());

  const cluster = (): string => `resourceGroups/local/providers/Microsoft.ContainerService/managedClusters/local`;
  const machineAt = (name: string): string => `${cluster()}/agentPools/aksmanagedap/machines/${name}?${PREVIEW}`;
  const machine = (more: object = {}) => ({
    properties: {
      hardware: { vmSize: 'Standard_D4s_v5' },
      operatingSystem: { osType: 'Linux', osSKU: 'Ubuntu2204', osDiskSizeGB: 128 },
      kubernetes: {
        orchestratorVersion: '1.36.3',
        nodeLabels: { 'karpenter.sh/nodepool': 'default' },
        nodeInitializationTaints: ['team=a:NoSchedule', 'karpenter.sh/unregistered:NoExecute'],
      },
      nodeImageVersion: 'AKSUbuntu-2204gen2containerd-202610.15.0',
      mode: 'User',
      tags: { 'karpenter.sh_nodepool': 'default', 'karpenter.azure.com_aksmachine_nodeclaim': 'one' },
      ...more,
    },
  });
  const put = (name: string, body: object, headers: Record<string, string> = {}): Promise<Answer> =>
    fixture.ask(machineAt(name), { method: 'PUT', body, headers });
  /** Polls the operation of an answer until it has ended. */
  const followed = async ({ headers }: Answer): Promise<{ status: string; error?: { code: string } }> => {
    const address = String(headers['azure-asyncoperation']).slice(fixture.arm.endpoint.length);
    let last = { status: 'InProgress' };
    await expect
      .poll(async () => {
        last = (await fixture.ask(address)).body as { status: string };
        return last.status;
      })
      .not.toBe('InProgress');
    return last;
  };
  const get = async (name: string): Promise<MachineBody> => (await fixture.ask(machineAt(name))).body as MachineBody;

  it('has an initial cluster with a pool of mode Machines', async () => {
    const { containers } = fixture;
    const found = await containers.managedClusters.get('local', 'LOCAL');
    expect(found).toMatchObject({
      nodeResourceGroup: fixture.group,
      kubernetesVersion: '1.36.3',
      nodeProvisioningProfile: { mode: 'Auto' },
      provisioningState: 'Succeeded',
      agentPoolProfiles: [{ name: 'aksmanagedap', mode: 'Machines' }],
    });
    expect((await collect(containers.managedClusters.list())).map(({ name }) => name)).toEqual(['local']);
    await expect(containers.managedClusters.get('local', 'missing')).rejects.toMatchObject({
      code: 'ResourceNotFound',
    });
    await expect(containers.agentPools.get('local', 'local', 'missing')).rejects.toMatchObject({
      statusCode: 404,
      code: 'NotFound',
    });
    const versions = await containers.managedClusters.listKubernetesVersions(fixture.arm.location);
    expect(versions.values?.find(({ isDefault }) => isDefault)?.version).toBe('1.36');
  });

  it('creates, changes and deletes clusters with pools, whose nodes are VMs that boot', async () => {
    const { containers, resources, arm } = fixture;
    await resources.resourceGroups.createOrUpdate('mine', { location: arm.location });
    const created = await containers.managedClusters.createOrUpdate(
      'mine',
      'second',
      {
        location: arm.location,
        kubernetesVersion: '1.35',
        identity: { type: 'SystemAssigned' },
        agentPoolProfiles: [
          { name: 'system', mode: 'System', count: 2, vmSize: 'Standard_D2s_v5', availabilityZones: ['1', '2'] },
        ],
      },
      POLL,
    );
    expect(created).toMatchObject({
      kubernetesVersion: '1.35.3',
      nodeResourceGroup: 'MC_mine_second_eastus',
      provisioningState: 'Succeeded',
      agentPoolProfiles: [{ name: 'system', count: 2 }],
    });
    const nodes = () => arm.virtualMachines().filter(({ resourceGroup }) => resourceGroup === 'MC_mine_second_eastus');
    await expect
      .poll(() => nodes().map(({ provisioningState }) => provisioningState))
      .toEqual(['Succeeded', 'Succeeded']);
    expect(new Set(nodes().map(({ zone }) => zone))).toEqual(new Set(['1', '2']));
    const [first] = nodes();
    expect(first && bootInstance(first)).toMatchObject({
      kubeletVersion: 'v1.35.3',
      labels: { agentpool: 'system', 'kubernetes.azure.com/mode': 'system' },
    });
    const pool = await containers.agentPools.createOrUpdate(
      'mine',
      'second',
      'work',
      { count: 1, vmSize: 'Standard_D4s_v5' },
      POLL,
    );
    expect(pool).toMatchObject({ provisioningState: 'Succeeded', count: 1, mode: 'User', osSKU: 'Ubuntu' });
    const scaled = await containers.agentPools.createOrUpdate(
      'mine',
      'second',
      'work',
      { count: 3, vmSize: 'Standard_D4s_v5' },
      POLL,
    );
    expect(scaled.count).toBe(3);
    const machines = await collect(containers.machines.list('mine', 'second', 'work'));
    expect(machines.map(({ name }) => name)).toEqual(['work-vms0', 'work-vms1', 'work-vms2']);
    await expect(
      containers.agentPools.createOrUpdate('mine', 'second', 'work', { count: 3, vmSize: 'Standard_D8s_v5' }, POLL),
    ).rejects.toMatchObject({ code: 'PropertyChangeNotAllowed' });
    await expect(containers.agentPools.createOrUpdate('mine', 'second', 'Bad', {}, POLL)).rejects.toMatchObject({
      code: 'InvalidParameter',
    });
    await expect(containers.agentPools.delete('mine', 'second', 'system', POLL)).rejects.toMatchObject({
      code: 'OperationNotAllowed',
    });
    await containers.agentPools.delete('mine', 'second', 'work', POLL);
    await expect.poll(() => nodes().length).toBe(2);
    await containers.managedClusters.delete('mine', 'second', POLL);
    expect(nodes()).toEqual([]);
    expect((await resources.resourceGroups.checkExistence('MC_mine_second_eastus')).body).toBe(false);
    await expect(
      containers.managedClusters.createOrUpdate(
        'mine',
        'old',
        { location: arm.location, kubernetesVersion: '1.20' },
        POLL,
      ),
    ).rejects.toMatchObject({ code: 'K8sVersionNotSupported' });
  });

  it('creates the nodes of a cluster again that has the name of a deleted one', async () => {
    const { managedClusters, agentPools } = fixture.containers;
    const pool = { name: 'system', mode: 'System', count: 1, vmSize: 'Standard_D2s_v5' };
    const nodes = (): number =>
      fixture.arm.virtualMachines().filter(({ resourceGroup }) => resourceGroup === 'MC_local_again_eastus').length;
    for (const round of ['first', 'second']) {
      await managedClusters.createOrUpdate(
        'local',
        'again',
        { location: 'eastus', tags: { round }, agentPoolProfiles: [pool] },
        POLL,
      );
      expect([round, nodes()]).toEqual([round, 1]);
      expect(await collect(agentPools.list('local', 'again'))).toHaveLength(1);
      await managedClusters.delete('local', 'again', POLL);
      expect([round, nodes()]).toEqual([round, 0]);
    }
  });

  it('creates a machine whose node has the given labels and taints, and changes its tags', async () => {
    const answer = await put('m-one', { ...machine(), zones: ['1'] });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ properties: { provisioningState: 'Creating' } });
    expect(await followed(answer)).toMatchObject({ status: 'Succeeded' });
    const made = await fixture.containers.machines.get('local', 'local', 'aksmanagedap', 'm-one');
    expect(made).toMatchObject({ name: 'm-one', zones: ['1'] });
    expect(made.properties?.network?.ipAddresses?.[0]?.ip).toMatch(/^10\.224\./);
    const shown = await get('m-one');
    expect(shown.properties).toMatchObject({
      provisioningState: 'Succeeded',
      status: { vmState: 'Running', driftAction: 'Synced' },
      nodeImageVersion: 'AKSUbuntu-2204gen2containerd-202610.15.0',
    });
    expect(shown.properties.priority).toBeUndefined();
    const vm = fixture.arm.virtualMachines().find(({ id }) => id === shown.properties.resourceId);
    expect(vm?.name).toMatch(/^aks-aksmanagedap-m-one-\d{8}-vm$/);
    expect(vm && bootInstance(vm)).toMatchObject({
      labels: { 'karpenter.sh/nodepool': 'default', 'topology.kubernetes.io/zone': 'eastus-1' },
      taints: [
        { key: 'team', value: 'a', effect: 'NoSchedule' },
        { key: 'karpenter.sh/unregistered', effect: 'NoExecute' },
      ],
      capacity: { cpu: '4', pods: '250' },
    });
    const tags = { 'karpenter.sh_nodepool': 'default', more: 'yes' };
    const stale = await put('m-one', machine({ tags }), { 'if-match': '"other"' });
    expect(stale).toMatchObject({ status: 412, body: { code: 'ConditionNotMet' } });
    const fresh = await put('m-one', machine({ tags }), { 'if-match': shown.properties.eTag });
    expect(await followed(fresh)).toMatchObject({ status: 'Succeeded' });
    expect((await get('m-one')).properties.tags).toEqual(tags);
    expect(fixture.arm.virtualMachines().find(({ id }) => id === vm?.id)?.tags).toEqual(tags);
    const changed = await put('m-one', machine({ hardware: { vmSize: 'Standard_D8s_v5' } }));
    expect(changed).toMatchObject({ status: 400, body: { code: 'OperationNotAllowed' } });
  });

  it('stores no cluster whose pools it refuses, and drops the bounds of an autoscaler that is turned off', async () => {
    const { managedClusters, agentPools } = fixture.containers;
    const pool = { name: 'one', mode: 'System', count: 1, vmSize: 'Standard_X1' };
    const wanted = { location: 'eastus', dnsPrefix: 'refused', agentPoolProfiles: [pool] };
    await expect(managedClusters.createOrUpdate('local', 'refused', wanted, POLL)).rejects.toMatchObject({
      code: 'VMSizeNotSupported',
    });
    await expect(managedClusters.get('local', 'refused')).rejects.toMatchObject({ code: 'ResourceNotFound' });
    // The size that older versions of the Azure CLI ask for.
    const size = { vmSize: 'Standard_DS2_v2', count: 1 };
    const made = { ...wanted, agentPoolProfiles: [{ ...pool, ...size }] };
    await managedClusters.createOrUpdate('local', 'refused', made, POLL);
    const scaled = { ...size, mode: 'User', enableAutoScaling: true, minCount: 1, maxCount: 3 };
    await agentPools.createOrUpdate('local', 'refused', 'bounds', scaled, POLL);
    const fixed = await agentPools.createOrUpdate('local', 'refused', 'bounds', { enableAutoScaling: false }, POLL);
    expect(fixed).toMatchObject({ ...size, enableAutoScaling: false });
    expect([fixed.minCount, fixed.maxCount]).toEqual([undefined, undefined]);
    await managedClusters.delete('local', 'refused', POLL);
  });

  it('refuses a machine for its size at once, and for lack of quota when its operation ends', async () => {
    expect(await put('m-x', machine({ hardware: { vmSize: 'Standard_X1' } }))).toMatchObject({
      status: 400,
      body: {
        code: 'VMSizeNotSupported',
        message: expect.stringContaining('is not supported for subscription') as string,
      },
    });
    expect(
      await fixture.ask(`${cluster()}/agentPools/missing/machines/m?${PREVIEW}`, { method: 'PUT', body: machine() }),
    ).toMatchObject({ status: 404, body: { code: 'NotFound' } });
    fixture.arm.setQuota('standardDSv5Family', 0);
    const answer = await put('m-quota', machine());
    expect(answer.status).toBe(201);
    expect(await followed(answer)).toMatchObject({ status: 'Failed', error: { code: 'OperationNotAllowed' } });
    fixture.arm.setQuota('standardDSv5Family', undefined);
    expect((await get('m-quota')).properties).toMatchObject({
      provisioningState: 'Failed',
      status: {
        provisioningError: {
          code: 'QuotaExceeded',
          details: [{ code: 'OperationNotAllowed', message: expect.stringContaining('Family Cores quota') as string }],
        },
      },
    });
  });

  it('creates many machines in one request, and lists those that it refused', async () => {
    const batch = (...entries: object[]) => ({ BatchPutMachine: JSON.stringify({ batchMachines: entries }) });
    const tags = { a: 'b' };
    const good = await put(
      'b-1',
      machine({ tags: {} }),
      batch({ machineName: 'b-1', zones: ['1'], tags }, { machineName: 'b-2', zones: [], tags: {} }),
    );
    expect(good).toMatchObject({ status: 200, body: { name: 'b-1', zones: ['1'], properties: { tags } } });
    await expect.poll(async () => (await get('b-2')).properties.provisioningState).toBe('Succeeded');
    expect((await get('b-2')).zones).toBeUndefined();
    const mixed = await put(
      'b-3',
      machine(),
      batch({ machineName: 'b-3', zones: ['1'], tags: {} }, { machineName: 'b-4', zones: ['9'], tags: {} }),
    );
    expect(mixed).toMatchObject({
      status: 400,
      body: { code: 'BatchMachineClientError', details: [{ code: 'AvailabilityZoneNotSupported', target: 'b-4' }] },
    });
    expect((await get('b-3')).name).toBe('b-3');
    const again = await put(
      'b-3',
      machine(),
      batch({ machineName: 'b-3', zones: ['1'], tags: {} }, { machineName: 'b-5', zones: [], tags: {} }),
    );
    expect(again).toMatchObject({ status: 400, body: { details: [{ code: 'InvalidParameter', target: 'b-3' }] } });
    await expect.poll(async () => (await get('b-5')).properties.provisioningState).toBe('Succeeded');
    const many = Array.from({ length: 51 }, (_, index) => ({ machineName: `c-${index}`, zones: [], tags: {} }));
    expect(await put('c-0', machine(), batch(...many))).toMatchObject({
      status: 400,
      body: { code: 'InvalidParameter' },
    });
    await expect.poll(async () => (await get('b-3')).properties.provisioningState).toBe('Succeeded');
  });

  it('deletes machines by name', async () => {
    const { containers } = fixture;
    const names = async () =>
      (await collect(containers.machines.list('local', 'local', 'aksmanagedap'))).map(({ name }) => name);
    await expect(
      containers.agentPools.deleteMachines('local', 'local', 'aksmanagedap', { machineNames: ['missing'] }, POLL),
    ).rejects.toMatchObject({
      statusCode: 400,
      code: 'InvalidParameter',
      message: expect.stringContaining('Cannot find any valid machines') as string,
    });
    const all = (await names()).map((name) => name ?? '');
    await containers.agentPools.deleteMachines('local', 'local', 'aksmanagedap', { machineNames: all }, POLL);
    expect(await names()).toEqual([]);
    await expect.poll(() => fixture.arm.virtualMachines()).toEqual([]);
    expect((await fixture.ask(machineAt('m-one'))).status).toBe(404);
  });

  it('returns the kubeconfig of a cluster that has an API server', async () => {
    const { managedClusters } = fixture.containers;
    await expect(managedClusters.listClusterUserCredentials('local', 'local')).rejects.toMatchObject({
      code: 'OperationNotAllowed',
      statusCode: 409,
    });
    const kubeconfig = (_cluster: object, names: object): string => JSON.stringify(names);
    const other = await ArmFixture.start({ kubeconfig });
    try {
      const { managedClusters: served } = other.containers;
      const read = ({ kubeconfigs = [] }: { kubeconfigs?: { name?: string; value?: Uint8Array }[] }): unknown =>
        kubeconfigs.map(({ name, value }) => [name, JSON.parse(Buffer.from(value ?? []).toString()) as unknown]);
      expect(read(await served.listClusterAdminCredentials('local', 'local'))).toEqual([
        ['clusterAdmin', { cluster: 'local', user: 'clusterAdmin_local_local', context: 'local' }],
      ]);
      expect(read(await served.listClusterUserCredentials('LOCAL', 'Local'))).toEqual([
        ['clusterUser', { cluster: 'local', user: 'clusterUser_LOCAL_local', context: 'local' }],
      ]);
      await expect(served.listClusterAdminCredentials('local', 'missing')).rejects.toMatchObject({
        code: 'ResourceNotFound',
      });
    } finally {
      await other.close();
    }
  });

  it('stores maintenance configurations', async () => {
    const { maintenanceConfigurations: configurations } = fixture.containers;
    const window = {
      maintenanceWindow: {
        schedule: { weekly: { intervalWeeks: 1, dayOfWeek: 'Saturday' as const } },
        durationHours: 6,
        startTime: '02:00',
      },
    };
    const made = await configurations.createOrUpdate('local', 'local', 'aksManagedNodeOSUpgradeSchedule', window);
    expect(made.maintenanceWindow).toMatchObject({ durationHours: 6, utcOffset: '+00:00' });
    expect(await collect(configurations.listByManagedCluster('local', 'local'))).toHaveLength(1);
    const short = { maintenanceWindow: { ...window.maintenanceWindow, durationHours: 2 } };
    await expect(
      configurations.createOrUpdate('local', 'local', 'aksManagedNodeOSUpgradeSchedule', short),
    ).rejects.toMatchObject({ code: 'InvalidParameter' });
    await expect(configurations.createOrUpdate('local', 'local', 'mine', window)).rejects.toMatchObject({
      code: 'InvalidParameter',
    });
    await configurations.delete('local', 'local', 'aksManagedNodeOSUpgradeSchedule');
    expect(await collect(configurations.listByManagedCluster('local', 'local'))).toEqual([]);
  });

  it.each([
    ['startDate', { startDate: '2026-02-30' }],
    ['utcOffset', { utcOffset: '+25:00' }],
    ['notAllowedDates.start', { notAllowedDates: [{ start: 'x', end: 'y' }] }],
    ['notAllowedDates', { notAllowedDates: [{ start: '2027-01-02', end: '2026-12-23' }] }],
    ['schedule.daily.intervalDays', { schedule: { daily: { intervalDays: 8 } } }],
    [
      'schedule.relativeMonthly.weekIndex',
      { schedule: { relativeMonthly: { intervalMonths: 1, dayOfWeek: 'Monday' } } },
    ],
  ])('refuses a maintenance window with a wrong %s', async (path, change) => {
    const maintenanceWindow = {
      schedule: { daily: { intervalDays: 1 } },
      durationHours: 4,
      startTime: '00:00',
      ...change,
    };
    const at = (name: string): string => `${cluster()}/maintenanceConfigurations/${name}?api-version=2025-05-01`;
    const put = (name: string, properties: object): Promise<unknown> =>
      fixture.ask(at(name), { method: 'PUT', body: { properties } });
    expect(await put('aksManagedNodeOSUpgradeSchedule', { maintenanceWindow })).toMatchObject({
      status: 400,
      body: {
        code: 'InvalidParameter',
        message: expect.stringContaining(`The value of parameter maintenanceWindow.${path} is invalid.`) as string,
      },
    });
    expect(await put('default', { timeInWeek: [{ day: 'Monday', hourSlots: [24] }] })).toMatchObject({
      status: 400,
      body: { code: 'InvalidParameter' },
    });
  });

  it('returns bootstrapping data with a placeholder for the token', async () => {
    const path = `${cluster()}/nodeBootstrapping?${PREVIEW}`;
    const body = {
      provisionProfile: {
        name: '',
        architecture: 'x64',
        osType: 2,
        osSku: 1,
        vmSize: 'Standard_D4s_v5',
        distro: 'aks-ubuntu-containerd-22.04-gen2',
        customNodeLabels: { 'karpenter.sh/nodepool': 'default' },
        orchestratorVersion: '1.36.3',
        vnetSubnetID: fixture.arm.network.subnetId,
        vnetCidrs: [],
        storageProfile: 'ManagedDisks',
        maxPods: 110,
        mode: 2,
        nodeTaints: ['team=a:NoSchedule'],
        nodeInitializationTaints: ['karpenter.sh/unregistered:NoExecute'],
        customKubeletConfig: { cpuManagerPolicy: 'static' },
      },
      provisionHelperValues: { skuCPU: 4, skuMemory: 16 },
    };
    const answer = await fixture.ask(path, { method: 'POST', body });
    const { customData, cse } = answer.body as { customData: string; cse: string };
    expect(cse).toContain('{{.TokenID}}.{{.TokenSecret}}');
    const script = atob(customData);
    expect(script).toContain("TLS_BOOTSTRAP_TOKEN='{{.TokenID}}.{{.TokenSecret}}'");
    expect(script).toMatch(/--cpu-manager-policy=static .*--kube-reserved=cpu=140m,memory=2662Mi .*--max-pods=110 /);
    expect(script).toContain('--register-with-taints=team=a:NoSchedule,karpenter.sh/unregistered:NoExecute');
    const { distro: _distro, ...incomplete } = body.provisionProfile;
    expect(await fixture.ask(path, { method: 'POST', body: { ...body, provisionProfile: incomplete } })).toMatchObject({
      status: 400,
      body: { error: { code: 'MissingRequiredProperty', message: expect.stringContaining('distro') as string } },
    });
  });
});
