/** `Microsoft.Resources/deployments` of a resource group: validates, previews and deploys templates. */
import { accepted, changed, listed, paged, timestamp, type ArmContext } from '../armContext.ts';
import { ArmError } from '../armError.ts';
import { refusal } from '../refusal.ts';
import { asText, at, listAt, objectAt, textAt, type JsonObject } from '../jsonPath.ts';
import { MACHINES } from '../containerservice/poolRollouts.ts';
import { checkGroup } from '../resources/requestRules.ts';
import { present, type ArmResource } from '../resourceStore.ts';
import { newestVersion } from '../server/apiVersions.ts';
import { ok, route, type ArmRequest, type ArmResponse, type Route, type Router } from '../server/router.ts';
import { runDeployment } from './deploymentRun.ts';
import { exportTemplate } from './exportTemplate.ts';
import { preflight } from './preflight.ts';
import { plannedResources, templateOf, type PlannedResource } from './templateResources.ts';
import { PendingReference, TemplateScope } from './templateScope.ts';
import { whatIf } from './whatIf.ts';

export const DEPLOYMENTS = 'Microsoft.Resources/deployments';
const OPERATIONS = 'Microsoft.Resources/deployments/operations';
const GROUP = '/subscriptions/{subscription}/resourceGroups/{group}';
const COLLECTION = `${GROUP}/providers/Microsoft.Resources/deployments`;
const ITEM = `${COLLECTION}/{name}`;
/** Path that older clients use, without a provider. */
const ITEM_OF_GROUP = `${GROUP}/deployments/{name}`;
/** Expected milliseconds of a deployment, from which Retry-After follows. */
const EXPECTED = 2_000;
const MODES: readonly string[] = ['Incremental', 'Complete'];

export interface DeploymentsOptions {
  readonly tenantId: string;
  /** The router over all routes, because a template may name any type. */
  readonly router: () => Router;
}

interface Prepared {
  readonly scope: TemplateScope;
  readonly resources: readonly PlannedResource[];
  readonly mode: string;
}

export class Deployments {
  private readonly context: ArmContext;
  private readonly options: DeploymentsOptions;

  constructor(context: ArmContext, options: DeploymentsOptions) {
    this.context = context;
    this.options = options;
  }

  routes(): readonly Route[] {
    const { context } = this;
    const listOperations: Route['handle'] = (request) =>
      listed(context.store.children(this.find(request).id, OPERATIONS).map(operationOf));
    return [
      route('deployments.list', 'GET', COLLECTION, (request) =>
        paged(context, request, context.store.list(DEPLOYMENTS, request.parameters['group'] ?? ''), show),
      ),
      route('deployments.get', 'GET', ITEM, (request) => ok(show(this.find(request)))),
      route('deployments.createOrUpdate', 'PUT', ITEM, (request) => this.put(request)),
      route('deployments.delete', 'DELETE', ITEM, (request) => this.delete(request)),
      route('deployments.validate', 'POST', `${ITEM}/validate`, (request) => this.validate(request)),
      route('deployments.whatIf', 'POST', `${ITEM}/whatIf`, (request) => {
        const { resources } = this.prepare(request);
        return ok({
          status: 'Succeeded',
          properties: whatIf(context.store, resources, (resource) => this.shown(resource)),
        });
      }),
      route('deployments.exportTemplate', 'POST', `${ITEM}/exportTemplate`, (request) =>
        ok({ template: this.find(request).hidden?.['template'] ?? {} }),
      ),
      route('resourceGroups.exportTemplate', 'POST', `${GROUP}/exportTemplate`, (request) => this.export(request)),
      route('deploymentOperations.list', 'GET', `${ITEM}/operations`, listOperations),
      route('deploymentOperations.listOfGroup', 'GET', `${ITEM_OF_GROUP}/operations`, listOperations),
    ];
  }

  private find({ parameters: { group = '', name = '' } }: ArmRequest): ArmResource {
    const { store } = this.context;
    const found = store.find(store.idOf(group, DEPLOYMENTS, name));
    if (found !== undefined) return found;
    throw refusal('DeploymentNotFound', { name });
  }

  private export({ parameters: { group = '' }, body }: ArmRequest): ArmResponse {
    const { store } = this.context;
    const isOwn = ({ type }: ArmResource): boolean => type.startsWith(DEPLOYMENTS) || type === MACHINES;
    const template = exportTemplate({
      store,
      group: store.group(group).name,
      resources: listAt(body, 'resources').map(asText),
      options: textAt(body, 'options') ?? '',
      isWritable: (resource) => !isOwn(resource) && typeof this.options.router().find('PUT', resource.id) === 'object',
      shown: (resource) => this.shown(resource),
    });
    return ok({ template });
  }

  /** Returns a resource as clients see it with the newest api-version. */
  private shown(resource: ArmResource): JsonObject {
    const found = this.options.router().find('GET', resource.id);
    if (typeof found !== 'object') return { ...present(resource) };
    const { route: read, parameters } = found;
    const query = new URLSearchParams({ 'api-version': newestVersion(resource.type) });
    const request = { method: 'GET', path: resource.id, query, headers: {}, body: undefined, parameters };
    return objectAt(read.handle({ ...request, lateFault: undefined }).body);
  }

  private validate(request: ArmRequest): ArmResponse {
    const { scope, mode, resources } = this.prepare(request);
    const { group = '', name = '' } = request.parameters;
    const { store } = this.context;
    const properties = {
      mode,
      parameters: scope.usedParameters(),
      provisioningState: 'Succeeded',
      validatedResources: resources.map(({ id }) => ({ id })),
    };
    return ok({ id: store.idOf(group, DEPLOYMENTS, name), name, type: DEPLOYMENTS, properties });
  }

  private put(request: ArmRequest): ArmResponse {
    const { store, random, clock, operations } = this.context;
    const { group = '', name = '' } = request.parameters;
    checkGroup(this.context, group);
    const id = store.idOf(group, DEPLOYMENTS, name);
    const existing = store.find(id);
    if (existing?.properties['provisioningState'] === 'Running') throw refusal('DeploymentActive', { name });
    const prepared = this.prepare(request);
    for (const { id: old } of store.children(id)) store.delete(old);
    const deployment: ArmResource = {
      id,
      name,
      type: DEPLOYMENTS,
      etag: random.uuid(),
      properties: {
        mode: prepared.mode,
        parameters: prepared.scope.usedParameters(),
        correlationId: random.uuid(),
        timestamp: timestamp(clock.now()),
        duration: 'PT0S',
        provisioningState: 'Running',
        dependencies: prepared.resources
          .filter(({ dependsOn }) => dependsOn.length > 0)
          .map(({ id: of, type, name: resourceName, dependsOn }) => ({
            id: of,
            resourceType: type,
            resourceName,
            dependsOn: dependsOn.map((each) => ({ id: each })),
          })),
      },
      hidden: { template: prepared.scope.template, startedAt: clock.now() },
    };
    store.put(deployment);
    const { operation, end } = operations.open(EXPECTED);
    runDeployment({
      context: this.context,
      router: this.options.router,
      principal: request.principal,
      resources: prepared.resources,
      onStep: (resource, state, error) => this.recordStep(deployment, resource, state, error),
      onEnd: (failures) => end(this.finish(id, prepared.scope, prepared.resources, failures)),
    });
    return changed(this.context, request, existing === undefined ? 201 : 200, deployment, operation);
  }

  private delete(request: ArmRequest): ArmResponse {
    const { store, operations, durations } = this.context;
    const found = this.find(request);
    const operation = operations.begin({
      milliseconds: durations.other,
      finish: () => store.deleteTree(found.id),
    });
    return accepted(this.context, request, operation);
  }

  /** Reads and checks the whole template, so that its errors are reported before anything is created. */
  private prepare(request: ArmRequest): Prepared {
    const { store } = this.context;
    const properties = objectAt(request.body, 'properties');
    const mode = textAt(properties, 'mode') ?? 'Incremental';
    if (!MODES.includes(mode)) throw refusal('InvalidDeploymentMode', { mode });
    if (mode === 'Complete') throw refusal('InvalidDeploymentMode.complete');
    const { group: groupName = '', name = '' } = request.parameters;
    const group = store.group(groupName);
    const scope = new TemplateScope(templateOf(properties), objectAt(properties, 'parameters'), {
      subscriptionId: store.subscriptionId,
      tenantId: this.options.tenantId,
      deploymentName: name,
      group: {
        id: store.groupId(group.name),
        name: group.name,
        type: 'Microsoft.Resources/resourceGroups',
        location: group.location,
        tags: group.tags ?? {},
        properties: { provisioningState: 'Succeeded' },
      },
      find: (id) => this.referred(id),
    });
    scope.checkParameters();
    const resources = plannedResources(scope, store.groupId(group.name));
    preflight({
      router: this.options.router,
      principal: request.principal,
      resources,
      deployment: name,
      trackingId: () => this.context.random.uuid(),
    });
    return { scope, resources, mode };
  }

  /** Returns a resource for `reference`; undefined while it is missing or unfinished. */
  private referred(id: string): JsonObject | undefined {
    const found = this.context.store.find(id);
    const state = at(found?.properties, 'provisioningState');
    if (found === undefined || (typeof state === 'string' && state !== 'Succeeded')) return undefined;
    const { hidden: _hidden, ...shown } = found;
    return shown;
  }

  private recordStep(
    deployment: ArmResource,
    { id, type, name }: PlannedResource,
    provisioningState: string,
    error: ArmError | undefined,
  ): void {
    const { store, clock, random } = this.context;
    const operationId = Buffer.from(id).toString('hex').slice(-32).toUpperCase();
    const key = `${deployment.id}/operations/${operationId}`;
    store.put({
      id: key,
      name: operationId,
      type: OPERATIONS,
      etag: random.uuid(),
      properties: {
        provisioningOperation: 'Create',
        provisioningState,
        timestamp: timestamp(clock.now()),
        targetResource: { id, resourceType: type, resourceName: name },
        ...(error && { statusCode: String(error.status), statusMessage: { error: error.content() } }),
      },
    });
  }

  /** Stores the result of a deployment. Returns the error of its operation, if any. */
  private finish(
    id: string,
    scope: TemplateScope,
    resources: readonly PlannedResource[],
    failures: readonly ArmError[],
  ): ArmError | undefined {
    const { store, clock } = this.context;
    const found = store.find(id);
    if (found === undefined) return undefined;
    const [outputs, problem] = failures.length === 0 ? outputsOf(scope) : [undefined, undefined];
    const all = problem === undefined ? failures : [problem];
    const details = all.map(({ code, message }) => ({ code, message }));
    const error = all.length === 0 ? undefined : refusal('DeploymentFailed', {}, { details });
    const seconds = Math.round((clock.now() - Number(found.hidden?.['startedAt'] ?? clock.now())) / 1000);
    store.put({
      ...found,
      properties: {
        ...found.properties,
        provisioningState: error === undefined ? 'Succeeded' : 'Failed',
        duration: `PT${seconds}S`,
        timestamp: timestamp(clock.now()),
        ...(outputs && { outputs }),
        ...(error && { error: error.content() }),
        outputResources: error === undefined ? resources.map((resource) => ({ id: resource.id })) : [],
      },
    });
    return error;
  }
}

function outputsOf(scope: TemplateScope): readonly [JsonObject | undefined, ArmError | undefined] {
  try {
    return [scope.outputs(), undefined];
  } catch (error) {
    if (error instanceof ArmError) return [undefined, error];
    if (error instanceof PendingReference) return [undefined, refusal('ResourceNotFound.reference', { id: error.id })];
    throw error;
  }
}

function show({ id, name, type, properties }: ArmResource): object {
  return { id, name, type, properties };
}

function operationOf({ id, name, properties }: ArmResource): object {
  return { id, operationId: asText(name), properties };
}
