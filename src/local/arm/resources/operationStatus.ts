/** The status and the result of long-running operations. */
import { retryAfter, timestamp, type ArmContext } from '../armContext.ts';
import type { Operation } from '../operations.ts';
import { NAMESPACES } from '../server/apiVersions.ts';
import { ok, route, type ArmRequest, type ArmResponse, type Route } from '../server/router.ts';

export function operationRoutes(context: ArmContext): readonly Route[] {
  return NAMESPACES.flatMap((namespace): readonly Route[] => {
    const location = `/subscriptions/{subscription}/providers/${namespace}/locations/{location}`;
    return [
      route('operations.get', 'GET', `${location}/operations/{id}`, ({ parameters: { id = '' } }) =>
        progress(context, context.operations.find(id)),
      ),
      route('operationResults.get', 'GET', `${location}/operationResults/{id}`, (request) => result(context, request)),
    ];
  });
}

function progress(context: ArmContext, operation: Operation): ArmResponse {
  return {
    status: 200,
    headers: operation.status === 'InProgress' ? { 'retry-after': retryAfter(context, operation) } : {},
    body: {
      name: operation.id,
      startTime: timestamp(operation.startedAt),
      ...(operation.endedAt === undefined ? {} : { endTime: timestamp(operation.endedAt) }),
      status: operation.status,
      ...(operation.error === undefined ? {} : { error: operation.error.content() }),
    },
  };
}

/** Returns 202 while the operation runs, then its result, or 204 when it has none. */
export function result(context: ArmContext, { parameters: { id = '' }, path, query }: ArmRequest): ArmResponse {
  const operation = context.operations.find(id);
  if (operation.status === 'InProgress') {
    // Clients that poll Location go on with this URL.
    const location = `${context.endpoint()}${path}?${query.toString()}`;
    return { status: 202, headers: { 'retry-after': retryAfter(context, operation), location } };
  }
  if (operation.error !== undefined) throw operation.error;
  const body = operation.result?.();
  if (body === 'empty') return { status: 200 };
  return body === undefined ? { status: 204 } : ok(body);
}
