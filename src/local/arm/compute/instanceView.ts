/** The instance view of a VM: its power state, its provisioning state and its extensions. */
import { objectAt, textAt, type JsonObject } from '../jsonPath.ts';
import type { ArmResource } from '../resourceStore.ts';

/** As Azure names the states of power. */
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

export function instanceViewOf(machine: ArmResource, extensions: readonly ArmResource[], now: string): JsonObject {
  const state = (textAt(machine.properties, 'provisioningState') ?? 'Unknown').toLowerCase();
  const power = powerStateOf(machine);
  const failure = objectAt(machine.hidden, 'failure');
  const running = power === 'running';
  const disk = textAt(machine.properties, 'storageProfile', 'osDisk', 'name');
  return {
    computerName: textAt(machine.properties, 'osProfile', 'computerName') ?? machine.name,
    hyperVGeneration: 'V2',
    ...(running
      ? {
          vmAgent: {
            vmAgentVersion: '2.14.0.1',
            statuses: [
              {
                code: 'ProvisioningState/succeeded',
                level: 'Info',
                displayStatus: 'Ready',
                message: 'Guest Agent is running',
                time: now,
              },
            ],
            extensionHandlers: extensions.map(({ properties }) => ({
              type: `${textAt(properties, 'publisher') ?? ''}.${textAt(properties, 'type') ?? ''}`,
              typeHandlerVersion: textAt(properties, 'typeHandlerVersion') ?? '',
              status: { code: 'ProvisioningState/succeeded', level: 'Info', displayStatus: 'Ready' },
            })),
          },
          extensions: extensions.map(({ name, properties }) => ({
            name,
            type: `${textAt(properties, 'publisher') ?? ''}.${textAt(properties, 'type') ?? ''}`,
            typeHandlerVersion: textAt(properties, 'typeHandlerVersion') ?? '',
            statuses: [
              {
                code: `ProvisioningState/${(textAt(properties, 'provisioningState') ?? '').toLowerCase()}`,
                level: 'Info',
                displayStatus: `Provisioning ${(textAt(properties, 'provisioningState') ?? '').toLowerCase()}`,
              },
            ],
          })),
        }
      : {}),
    ...(disk === undefined
      ? {}
      : {
          disks: [
            {
              name: disk,
              statuses: [
                {
                  code: 'ProvisioningState/succeeded',
                  level: 'Info',
                  displayStatus: 'Provisioning succeeded',
                  time: now,
                },
              ],
            },
          ],
        }),
    statuses: [
      {
        code: `ProvisioningState/${state}${typeof failure['code'] === 'string' ? `/${failure['code']}` : ''}`,
        level: state === 'failed' ? 'Error' : 'Info',
        displayStatus: `Provisioning ${state}`,
        ...(typeof failure['message'] === 'string' ? { message: failure['message'] } : {}),
        time: now,
      },
      ...(power === undefined ? [] : [{ code: `PowerState/${power}`, level: 'Info', displayStatus: `VM ${power}` }]),
    ],
  };
}
