/**
 * The instance metadata service: a machine's description, its scheduled events, and tokens of its identity. On Azure
 * only the machine itself reaches it; here the address has the machine's name and a key that cannot be guessed.
 */
import type { ArmContext } from '../armContext.ts';
import { interfaceIds } from '../compute/localVirtualMachine.ts';
import { listAt, objectAt, textAt } from '../jsonPath.ts';
import { prefixOf } from '../network/subnetAddresses.ts';
import type { ScheduledEvents } from '../compute/scheduledEvents.ts';
import type { ArmResource } from '../resourceStore.ts';
import { openRoute, type ArmRequest, type Route } from '../server/router.ts';
import type { LocalVirtualMachine } from '../virtualMachines.ts';
import { DirectoryError } from './directoryError.ts';
import type { Tokens } from './tokens.ts';

export interface MetadataOptions {
  readonly context: ArmContext;
  readonly tokens: Tokens;
  readonly events: ScheduledEvents;
  readonly find: (name: string) => ArmResource | undefined;
  readonly describe: (machine: ArmResource) => LocalVirtualMachine;
  /** The identity when a request names none. */
  readonly defaultClientId: string;
}

const INSTANCE_VERSIONS =
  '2017-04-02 2017-12-01 2018-10-01 2019-06-01 2020-09-01 2021-02-01 2023-07-01 2025-04-07'.split(' ');
const EVENT_VERSIONS = '2017-08-01 2017-11-01 2019-01-01 2019-04-01 2019-08-01 2020-07-01'.split(' ');

export function metadataRoutes(options: MetadataOptions): readonly Route[] {
  const { tokens, events, defaultClientId } = options;
  /** The machine whose key the address has; a wrong key and a missing machine look the same. */
  const machineOf = (request: ArmRequest): ArmResource => {
    checkHeader(request);
    const { machine: name = '', key = '' } = request.parameters;
    const machine = options.find(name);
    if (machine !== undefined && tokens.isMetadataKey(machine.name, key)) return machine;
    throw new DirectoryError(404, 'Not found', undefined, 'There is no such machine.');
  };
  const token: Route['handle'] = (request) => {
    machineOf(request);
    const { query } = request;
    const clientId = query.get('client_id') ?? clientOf(options, query.get('msi_res_id') ?? query.get('mi_res_id'));
    return { status: 200, body: tokens.managedIdentity(query.get('resource') ?? '', clientId ?? defaultClientId) };
  };
  const ofMachine =
    (
      versions: readonly string[],
      handle: (machine: ArmResource, request: ArmRequest) => object | undefined,
    ): Route['handle'] =>
    (request) => {
      const machine = machineOf(request);
      const version = request.query.get('api-version');
      if (version === null || !versions.includes(version)) {
        throw new DirectoryError(
          400,
          'Bad request. api-version is invalid or was not specified in the request. For more information refer to aka.ms/azureimds',
          undefined,
          versions.join(', '),
        );
      }
      const body = handle(machine, request);
      return body === undefined ? { status: 200 } : { status: 200, body };
    };
  return [
    openRoute('metadata.token', 'GET', '/imds/{machine}/{key}/metadata/identity/oauth2/token', token),
    openRoute(
      'metadata.instance',
      'GET',
      '/imds/{machine}/{key}/metadata/instance',
      ofMachine(INSTANCE_VERSIONS, (machine) => instanceOf(options, machine)),
    ),
    openRoute(
      'metadata.scheduledEvents',
      'GET',
      '/imds/{machine}/{key}/metadata/scheduledevents',
      ofMachine(EVENT_VERSIONS, ({ name }) => events.document(name)),
    ),
    openRoute(
      'metadata.startEvents',
      'POST',
      '/imds/{machine}/{key}/metadata/scheduledevents',
      ofMachine(EVENT_VERSIONS, ({ name }, { body }) => {
        for (const each of listAt(typeof body === 'string' ? parseEvents(body) : body, 'StartRequests')) {
          if (events.approve(name, textAt(each, 'EventId') ?? '')) continue;
          throw new DirectoryError(400, 'Bad request', undefined, 'There is no such event.');
        }
        return undefined;
      }),
    ),
  ];
}

/** Clients post events without a content type. */
function parseEvents(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new DirectoryError(400, 'Bad request', undefined, 'The body is not JSON.');
  }
}

/** The header keeps requests out that a browser or a proxy was tricked into. */
function checkHeader({ headers }: ArmRequest): void {
  if (headers['x-forwarded-for'] !== undefined) {
    throw new DirectoryError(400, 'Bad request', undefined, 'Requests must not contain an X-Forwarded-For header.');
  }
  if (String(headers['metadata']).toLowerCase() === 'true') return;
  throw new DirectoryError(400, 'invalid_request', undefined, 'Required metadata header not specified');
}

function clientOf({ context }: MetadataOptions, identityId: string | null): string | undefined {
  if (identityId === null) return undefined;
  return textAt(context.store.find(identityId)?.properties, 'clientId') ?? '';
}

function instanceOf({ context, describe }: MetadataOptions, machine: ArmResource): object {
  const vm = describe(machine);
  const tags = Object.entries(vm.tags);
  const disk = objectAt(machine.properties, 'storageProfile', 'osDisk');
  const nic = context.store.find(interfaceIds(machine)[0] ?? '');
  const [configuration] = listAt(nic?.properties, 'ipConfigurations');
  const subnet = context.store.find(textAt(configuration, 'properties', 'subnet', 'id') ?? '');
  const [address, prefix] = (subnet === undefined ? '' : prefixOf(subnet).text).split('/');
  return {
    compute: {
      azEnvironment: 'AzurePublicCloud',
      evictionPolicy: textAt(machine.properties, 'evictionPolicy') ?? '',
      location: vm.location,
      name: vm.name,
      osProfile: {
        adminUsername: textAt(machine.properties, 'osProfile', 'adminUsername') ?? '',
        computerName: vm.computerName,
        disablePasswordAuthentication: 'true',
      },
      osType: 'Linux',
      priority: vm.priority,
      provider: 'Microsoft.Compute',
      resourceGroupName: vm.resourceGroup,
      resourceId: vm.id,
      storageProfile: {
        imageReference: { id: vm.imageId ?? '' },
        osDisk: { name: textAt(disk, 'name') ?? '', diskSizeGB: String(vm.osDiskSizeGB), osType: 'Linux' },
        dataDisks: [],
      },
      subscriptionId: context.store.subscriptionId,
      tags: tags.map(([name, value]) => `${name}:${value}`).join(';'),
      tagsList: tags.map(([name, value]) => ({ name, value })),
      userData: textAt(machine.hidden, 'userData') ?? '',
      vmId: vm.vmId,
      vmScaleSetName: '',
      vmSize: vm.size,
      zone: vm.zone ?? '',
    },
    network: {
      interface: [
        {
          ipv4: {
            ipAddress: [{ privateIpAddress: vm.privateIPAddress ?? '', publicIpAddress: '' }],
            subnet: subnet === undefined ? [] : [{ address, prefix }],
          },
          ipv6: { ipAddress: [] },
          macAddress: (textAt(nic?.properties, 'macAddress') ?? '').replaceAll('-', ''),
        },
      ],
    },
  };
}
