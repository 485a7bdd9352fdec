/** Deploys the resources of a template in the order of their dependencies, through the routes that clients use. */
import type { ArmContext } from '../armContext.ts';
import { ArmError } from '../armError.ts';
import { refusal } from '../refusal.ts';
import { authorize, type Principal } from '../directory/principals.ts';
import type { JsonObject } from '../jsonPath.ts';
import { checkApiVersion } from '../server/apiVersions.ts';
import { actionOf, parseResourcePath } from '../server/resourcePath.ts';
import type { ArmRequest, ArmResponse, Route, Router } from '../server/router.ts';
import type { PlannedResource } from './templateResources.ts';
import { PendingReference } from './templateScope.ts';

export interface DeploymentRunOptions {
  readonly context: ArmContext;
  readonly router: () => Router;
  readonly principal: Principal | undefined;
  readonly resources: readonly PlannedResource[];
  /** Called when a resource begins and when it ends. */
  readonly onStep: (resource: PlannedResource, state: 'Running' | 'Succeeded' | 'Failed', error?: ArmError) => void;
  /** Called once, when no resource is in progress any more. After a failure no further resource begins. */
  readonly onEnd: (failures: readonly ArmError[]) => void;
}

/** Milliseconds between checks of an operation that takes longer than expected. */
const CHECK_INTERVAL = 250;

export function runDeployment(options: DeploymentRunOptions): void {
  const { context, onStep, onEnd } = options;
  const { clock } = context;
  const waiting = new Set(options.resources);
  const done = new Set<string>();
  const failures: ArmError[] = [];
  let running = 0;
  let isOver = false;

  const end = (resource: PlannedResource, error: ArmError | undefined): void => {
    running -= 1;
    if (error === undefined) done.add(resource.id);
    else failures.push(error);
    onStep(resource, error === undefined ? 'Succeeded' : 'Failed', error);
    clock.after(0, advance);
  };
  const begin = (resource: PlannedResource, body: JsonObject): void => {
    waiting.delete(resource);
    running += 1;
    onStep(resource, 'Running');
    try {
      follow(context, put(options, resource, body), (error) => end(resource, error));
    } catch (error) {
      end(resource, refusalOf(error));
    }
  };
  const advance = (): void => {
    if (isOver) return;
    let missing = '';
    for (const resource of waiting) {
      if (failures.length > 0) break;
      if (!resource.dependsOn.every((id) => done.has(id))) continue;
      try {
        begin(resource, resource.body());
      } catch (error) {
        if (error instanceof PendingReference) missing = error.id;
        else failures.push(refusalOf(error));
      }
    }
    if (running > 0) return;
    isOver = true;
    if (failures.length === 0 && waiting.size > 0) {
      failures.push(refusal('ResourceNotFound.dependency', { missing }));
    }
    onEnd(failures);
  };
  clock.after(0, advance);
}

function put(options: DeploymentRunOptions, resource: PlannedResource, body: JsonObject): ArmResponse {
  const { principal } = options;
  if (principal !== undefined) authorize(principal, actionOf(parseResourcePath(resource.id), 'PUT'), resource.id);
  const [route, request] = requestOf(options, resource, body);
  return route.handle(request);
}

/** Returns the request that a client would send for a resource; throws for an unknown type or api-version. */
export function requestOf(
  { router, principal }: Pick<DeploymentRunOptions, 'router' | 'principal'>,
  { id, apiVersion, type }: PlannedResource,
  body: JsonObject,
): readonly [Route, ArmRequest] {
  const { location } = body;
  checkApiVersion(apiVersion, parseResourcePath(id), 'PUT', typeof location === 'string' ? location : undefined);
  const found = router().find('PUT', id);
  if (typeof found !== 'object') throw refusal('InvalidResourceType', { type });
  const request: ArmRequest = {
    method: 'PUT',
    path: id,
    query: new URLSearchParams({ 'api-version': apiVersion }),
    headers: {},
    body,
    parameters: found.parameters,
    ...(principal && { principal }),
    lateFault: undefined,
  };
  return [found.route, request];
}

/** Calls `ended` when the operation of an answer has ended. */
function follow(context: ArmContext, answer: ArmResponse, ended: (error: ArmError | undefined) => void): void {
  const { clock, operations } = context;
  const id = /\/operations\/([^/?]+)/i.exec(answer.headers?.['azure-asyncoperation'] ?? '')?.[1];
  if (id === undefined) {
    clock.after(0, () => ended(undefined));
    return;
  }
  const operation = operations.find(id);
  const look = (): void => {
    if (operation.status === 'InProgress') clock.after(CHECK_INTERVAL, look);
    else ended(operation.error);
  };
  clock.after(Math.max(operation.endsAt - clock.now(), 0), look);
}

function refusalOf(error: unknown): ArmError {
  if (error instanceof ArmError) return error;
  throw error;
}
