/** The instance view of a VM: its power state, its provisioning state and its extensions. */
import { textAt, type JsonObject } from '../jsonPath.ts';
import type { ArmResource } from '../resourceStore.ts';

/** Power states by Azure's names. */
export type PowerState = 'starting' | 'running' | 'stopping' | 'stopped' | 'deallocating' | 'deallocated';

const CREATION_POWER: Readonly<Record<string, PowerState>> = {
  Creating: 'starting',
  Deleting: 'stopping',
  Succeeded: 'running',
  Updating: 'running',
};

export function powerStateOf({ properties, hidden }: ArmResource): PowerState | undefined {
  const state = textAt(properties, 'provisioningState') ?? '';
  const kept = textAt(hidden, 'powerState') as PowerState | undefined;
  return state === 'Deleting' ? 'stopping' : (kept ?? CREATION_POWER[state]);
}

interface ViewStatus {
  readonly code: string;
  readonly level: 'Info' | 'Error';
  readonly displayStatus: string;
}

const status = (code: string, displayStatus: string): ViewStatus => ({ code, level: 'Info', displayStatus });
const succeeded = (displayStatus: string): ViewStatus => status('ProvisioningState/succeeded', displayStatus);
const provisioning = (state: string): ViewStatus => status(`ProvisioningState/${state}`, `Provisioning ${state}`);

export function instanceViewOf(machine: ArmResource, extensions: readonly ArmResource[], now: string): JsonObject {
  const state = (textAt(machine.properties, 'provisioningState') ?? 'Unknown').toLowerCase();
  const power = powerStateOf(machine);
  const [code, message] = ['code', 'message'].map((member) => textAt(machine.hidden, 'failure', member));
  const disk = textAt(machine.properties, 'storageProfile', 'osDisk', 'name');
  return {
    computerName: textAt(machine.properties, 'osProfile', 'computerName') ?? machine.name,
    hyperVGeneration: 'V2',
    ...(power === 'running' && agentView(extensions, now)),
    ...(disk !== undefined && {
      disks: [{ name: disk, statuses: [{ ...succeeded('Provisioning succeeded'), time: now }] }],
    }),
    statuses: [
      {
        ...provisioning(state),
        ...(code !== undefined && { code: `ProvisioningState/${state}/${code}` }),
        ...(state === 'failed' && { level: 'Error' }),
        ...(message !== undefined && { message }),
        time: now,
      },
      ...(power === undefined ? [] : [status(`PowerState/${power}`, `VM ${power}`)]),
    ],
  };
}

/** Returns the part of the instance view that the agent inside the VM reports. */
function agentView(extensions: readonly ArmResource[], now: string): JsonObject {
  const described = extensions.map(({ name, properties }) => {
    const text = (member: string): string => textAt(properties, member) ?? '';
    const handler = { type: `${text('publisher')}.${text('type')}`, typeHandlerVersion: text('typeHandlerVersion') };
    return { name, handler, state: text('provisioningState').toLowerCase() };
  });
  return {
    vmAgent: {
      vmAgentVersion: '2.14.0.1',
      statuses: [{ ...succeeded('Ready'), message: 'Guest Agent is running', time: now }],
      extensionHandlers: described.map(({ handler }) => ({ ...handler, status: succeeded('Ready') })),
    },
    extensions: described.map(({ name, handler, state }) => ({ name, ...handler, statuses: [provisioning(state)] })),
  };
}
