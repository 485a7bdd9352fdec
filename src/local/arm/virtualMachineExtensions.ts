/**
 * Machine extensions. In: PUT and list below a machine. Out: extensions that take a moment to be ready and go with
 * their machine; protected settings are taken but never shown.
 */
import { changed, listed, type ArmContext } from './armContext.ts';
import { objectAt, textsAt } from './jsonPath.ts';
import type { ArmResource, ResourceStore } from './resourceStore.ts';
import type { ArmRequest, ArmResponse, Route } from './router.ts';

const NAMESPACE = 'Microsoft.Compute';
const VIRTUAL_MACHINES = 'Microsoft.Compute/virtualMachines';
const EXTENSIONS = 'Microsoft.Compute/virtualMachines/extensions';

export function extensionRoutes(context: ArmContext): readonly Route[] {
  const { store } = context;
  const collection = `/subscriptions/{subscription}/resourceGroups/{group}/providers/${NAMESPACE}/virtualMachines/{name}/extensions`;
  const machineOf = ({ parameters: { group = '', name = '' } }: ArmRequest): ArmResource =>
    store.get(group, VIRTUAL_MACHINES, name);
  return [
    {
      name: 'virtualMachineExtensions.createOrUpdate',
      method: 'PUT',
      path: `${collection}/{extension}`,
      handle: (request) => putExtension(context, machineOf(request), request),
    },
    {
      name: 'virtualMachineExtensions.get',
      method: 'GET',
      path: `${collection}/{extension}`,
      handle: ({ parameters: { group = '', name = '', extension = '' } }) => ({
        status: 200,
        body: store.get(group, EXTENSIONS, name, extension),
      }),
    },
    {
      name: 'virtualMachineExtensions.list',
      method: 'GET',
      path: collection,
      handle: (request) => listed(extensionsOf(store, machineOf(request).id)),
    },
  ];
}

export function extensionsOf(store: ResourceStore, machineId: string): readonly ArmResource[] {
  const prefix = `${machineId.toLowerCase()}/`;
  return store.list(EXTENSIONS).filter((extension) => extension.id.toLowerCase().startsWith(prefix));
}

function putExtension(context: ArmContext, machine: ArmResource, request: ArmRequest): ArmResponse {
  const { group = '', name = '', extension = '' } = request.parameters;
  const id = context.store.idOf(group, EXTENSIONS, name, extension);
  const existed = context.store.find(id) !== undefined;
  const { protectedSettings: _protectedSettings, ...properties } = objectAt(request.body, 'properties');
  const put = (provisioningState: string): ArmResource => {
    const resource: ArmResource = {
      id,
      name: extension,
      type: EXTENSIONS,
      location: machine.location ?? context.location,
      tags: textsAt(request.body, 'tags'),
      etag: `"${context.random.uuid()}"`,
      properties: { ...properties, provisioningState },
    };
    // The machine may be gone by the time its extension is ready.
    if (context.store.find(machine.id) !== undefined) context.store.put(resource);
    return resource;
  };
  const resource = put('Creating');
  const operation = context.operations.begin({
    milliseconds: context.durations.extension,
    finish: () => put('Succeeded'),
    failure: request.lateFault && { error: request.lateFault.error, apply: () => put('Failed') },
  });
  return changed(context, NAMESPACE, existed ? 200 : 201, resource, operation);
}
