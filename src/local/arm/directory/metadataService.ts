/**
 * The instance metadata service: a VM's scheduled events and tokens of its identity. On Azure only the VM itself reaches
 * it; here the URL has the VM's name and a secret key.
 */
import type { ArmContext } from '../armContext.ts';
import { listAt, textAt } from '../jsonPath.ts';
import type { ScheduledEvents } from '../compute/scheduledEvents.ts';
import type { ArmResource } from '../resourceStore.ts';
import { ok, openRoute, type ArmRequest, type Route } from '../server/router.ts';
import { DirectoryError } from '../armError.ts';
import type { Tokens } from './tokens.ts';

export interface MetadataOptions {
  readonly context: ArmContext;
  readonly tokens: Tokens;
  readonly events: ScheduledEvents;
  readonly find: (name: string) => ArmResource | undefined;
  /** The client id for requests that name no identity. */
  readonly defaultClientId: string;
}

const EVENT_VERSIONS = '2017-08-01 2017-11-01 2019-01-01 2019-04-01 2019-08-01 2020-07-01'.split(' ');

export function metadataRoutes(options: MetadataOptions): readonly Route[] {
  const { tokens, events, defaultClientId } = options;
  /** Returns the VM of the URL; throws the same error for a wrong key and for a missing VM. */
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
    return ok(tokens.managedIdentity(query.get('resource') ?? '', clientId ?? defaultClientId));
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
      return body === undefined ? { status: 200 } : ok(body);
    };
  return [
    openRoute('metadata.token', 'GET', '/imds/{machine}/{key}/metadata/identity/oauth2/token', token),
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

/** Throws without the header: it keeps out requests that a browser or a proxy was tricked into. */
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
