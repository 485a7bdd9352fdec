/** The routes of virtual machines. */
import { paged, timestamp, type ArmContext } from '../armContext.ts';
import { refusal } from '../refusal.ts';
import { at, objectAt, textAt } from '../jsonPath.ts';
import { present, type ArmResource } from '../resourceStore.ts';
import { ok, route, type ArmRequest, type ArmResponse, type Route } from '../server/router.ts';
import { VIRTUAL_MACHINES, type VirtualMachines } from '../virtualMachines.ts';
import { instanceViewOf, powerStateOf, type PowerState } from './instanceView.ts';
import type { ScheduledEvents } from './scheduledEvents.ts';

const EXTENSIONS = 'Microsoft.Compute/virtualMachines/extensions';
/** Azure evicts within 30 minutes of the request; here a simulated eviction comes after 30 seconds. */
const SIMULATED_NOTICE = 30_000;

interface PowerAction {
  readonly name: string;
  readonly through: PowerState;
  readonly to: PowerState;
  /** Refused for a VM with an ephemeral OS disk, which would be lost with the host. */
  readonly leavesHost?: true;
  /** Refused unless the VM runs. */
  readonly needsRunning?: true;
}

const POWER_ACTIONS: readonly PowerAction[] = [
  { name: 'start', through: 'starting', to: 'running' },
  { name: 'restart', through: 'stopping', to: 'running', needsRunning: true },
  { name: 'redeploy', through: 'stopping', to: 'running', needsRunning: true },
  { name: 'reimage', through: 'stopping', to: 'running' },
  { name: 'powerOff', through: 'stopping', to: 'stopped' },
  { name: 'deallocate', through: 'deallocating', to: 'deallocated', leavesHost: true },
];
/** Actions that stop the VM before they start it again. */
const CYCLES: ReadonlySet<string> = new Set(['restart', 'redeploy', 'reimage']);

export function virtualMachineRoutes(
  context: ArmContext,
  machines: VirtualMachines,
  events: ScheduledEvents,
): readonly Route[] {
  const { store } = context;
  const provider = 'providers/Microsoft.Compute';
  const collection = `/subscriptions/{subscription}/resourceGroups/{group}/${provider}/virtualMachines`;
  const find = ({ parameters: { group = '', name = '' } }: ArmRequest): ArmResource =>
    store.get(group, VIRTUAL_MACHINES, name);
  const view = (machine: ArmResource): object =>
    instanceViewOf(machine, store.children(machine.id, EXTENSIONS), timestamp(context.clock.now()));
  const show = (machine: ArmResource, expand: string): object => {
    const shown = present(machine);
    const extensions = store.children(machine.id, EXTENSIONS);
    const userData = textAt(machine.hidden, 'userData');
    return {
      ...shown,
      properties: {
        ...shown.properties,
        ...(expand.includes('instanceview') ? { instanceView: view(machine) } : {}),
        ...(expand.includes('userdata') && userData !== undefined ? { userData } : {}),
      },
      ...(extensions.length === 0 ? {} : { resources: extensions.map(present) }),
    };
  };
  const list = (request: ArmRequest, found: readonly ArmResource[]): ArmResponse => {
    const status = request.query.get('statusOnly')?.toLowerCase() === 'true';
    const expand = status ? 'instanceview' : (request.query.get('$expand')?.toLowerCase() ?? '');
    return paged(context, request, found, (machine) => show(machine, expand));
  };
  return [
    route('virtualMachines.listAll', 'GET', `/subscriptions/{subscription}/${provider}/virtualMachines`, (request) =>
      list(request, store.list(VIRTUAL_MACHINES)),
    ),
    route('virtualMachines.list', 'GET', collection, (request) =>
      list(request, store.list(VIRTUAL_MACHINES, request.parameters['group'] ?? '')),
    ),
    route(
      'virtualMachines.listByLocation',
      'GET',
      `/subscriptions/{subscription}/${provider}/locations/{location}/virtualMachines`,
      (request) => list(request, store.list(VIRTUAL_MACHINES)),
    ),
    route('virtualMachines.get', 'GET', `${collection}/{name}`, (request) => {
      const machine = find(request);
      const expand = request.query.get('$expand')?.toLowerCase() ?? '';
      return { status: 200, body: show(machine, expand), headers: { etag: machine.etag } };
    }),
    route('virtualMachines.instanceView', 'GET', `${collection}/{name}/instanceView`, (request) =>
      ok(view(find(request))),
    ),
    route('virtualMachines.createOrUpdate', 'PUT', `${collection}/{name}`, (request) =>
      machines.createOrUpdate(request),
    ),
    route('virtualMachines.update', 'PATCH', `${collection}/{name}`, (request) =>
      machines.patch(find(request), request),
    ),
    route('virtualMachines.delete', 'DELETE', `${collection}/{name}`, (request) => machines.delete(request)),
    route('virtualMachines.simulateEviction', 'POST', `${collection}/{name}/simulateEviction`, (request) => {
      const machine = find(request);
      if (machine.properties['priority'] !== 'Spot')
        throw refusal('OperationNotAllowed.notSpot', { name: machine.name });
      events.schedule(machine.name, 'Preempt', SIMULATED_NOTICE, () => machines.evict(machine));
      return { status: 204 };
    }),
    ...POWER_ACTIONS.map((action): Route => ({
      name: `virtualMachines.${action.name}`,
      method: 'POST',
      path: `${collection}/{name}/${action.name}`,
      handle: (request) => {
        const machine = find(request);
        checkPower(machine, action);
        if (CYCLES.has(action.name)) machines.setPower(machine.id, 'stopped');
        return machines.power(request, machine, action.through, action.to);
      },
    })),
  ];
}

function checkPower(machine: ArmResource, { name, leavesHost, needsRunning }: PowerAction): void {
  const ephemeral = at(objectAt(machine.properties, 'storageProfile', 'osDisk'), 'diffDiskSettings') !== undefined;
  if (leavesHost && ephemeral) throw refusal('OperationNotAllowed.ephemeralDisk', { name });
  const power = powerStateOf(machine);
  if (!needsRunning || power === 'running') return;
  throw refusal('OperationNotAllowed.notRunning', { name, vm: machine.name, power: power ?? 'unknown' });
}
