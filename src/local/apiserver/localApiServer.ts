/**
 * A Kubernetes API server in this process: the `Kube` port without a network, and after `listen` the same API over
 * HTTPS for `kubectl` and `HttpKube`.
 */
import { InvariantError } from '../../errors/invariantError.ts';
import type { Random } from '../../clock/random.ts';
import { KubeError, type KubeStatus } from '../../kube/errors.ts';
import type { Kube } from '../../kube/kube.ts';
import {
  createCertificateAuthority,
  issueClientCertificate,
  issueServerCertificate,
  type CertificatePair,
} from '../certificates.ts';
import { isSecret } from '../requestBody.ts';
import { aggregateRoles } from './access/aggregation.ts';
import { keepQuotas } from './admission/quotaKeeper.ts';
import { recordApiServices } from './apiServices.ts';
import { Catalog } from './catalog.ts';
import { AUTHENTICATED, MASTERS, type User } from './access/user.ts';
import type { ApiObject } from './fields.ts';
import { keepDefinitions } from './definitionLifecycle.ts';
import { collectGarbage } from './garbageCollector.ts';
import { keepNamespaces } from './namespaceLifecycle.ts';
import { accountOfToken } from './serviceAccountToken.ts';
import { apiHandler, type ApiHandler, type ApiHandlerOptions } from './http/apiHandler.ts';
import { listenHttps, type HttpsServer } from './http/httpsServer.ts';
import { parseUrl } from './http/requestPath.ts';
import type { RequestTrouble } from './http/message.ts';
import { createInitialObjects, createNetworkObjects } from './initialObjects.ts';
import { renderKubeconfig, writeKubeconfigFile, type KubeconfigNames } from './kubeconfig.ts';
import { LocalKube } from './localKube.ts';
import { Objects } from './objects.ts';
import { keepState } from './stateFile.ts';
import { badRequest } from './status.ts';
import { Store, type StoreEvent } from './store.ts';

export interface LocalApiServerOptions
  extends Pick<ApiHandlerOptions, 'clock' | 'aggregated' | 'kubelets'>, Partial<Pick<ApiHandlerOptions, 'version'>> {
  readonly random: Random;
  /** Number of events kept per resource, from which watches can resume. */
  readonly historyLimit?: number;
  /** File that keeps the objects between processes; without it they are not kept. */
  readonly stateFile?: string;
  /** Faults of requests over HTTPS. */
  readonly trouble?: RequestTrouble;
}

export interface ListenOptions {
  /** 0 or absent takes a free port. */
  readonly port?: number;
  readonly host?: string;
}

/** The URL of the server, and credentials for it. */
export interface Endpoint {
  readonly url: string;
  readonly caPem: string;
  readonly token: string;
  readonly clientCertificate: CertificatePair;
}

const RELEASE = '1.36.3';
const HISTORY_LIMIT = 10_000;
const SERVING_NAMES = ['localhost', '127.0.0.1', '::1', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'];
const ADMIN: User = { name: 'nodewright-admin', groups: [MASTERS, AUTHENTICATED] };

export class LocalApiServer {
  readonly kube: Kube;
  private readonly options: LocalApiServerOptions;
  private readonly handler: ApiHandler;
  private readonly objects: Objects;
  private readonly stops: (() => void)[] = [];
  private readonly authenticate: (token: string) => User | undefined;
  private listening: { readonly server: HttpsServer; readonly endpoint: Endpoint } | undefined;

  constructor(options: LocalApiServerOptions) {
    this.options = options;
    const { clock, random, aggregated, kubelets, stateFile, historyLimit = HISTORY_LIMIT } = options;
    const store = new Store({ historyLimit });
    const objects = new Objects(store, new Catalog(store), clock, random);
    this.objects = objects;
    this.authenticate = (shown) => {
      const { token } = this.listening?.endpoint ?? {};
      return token && isSecret(shown, token) ? ADMIN : accountOfToken(shown, store, clock.now());
    };
    this.handler = apiHandler(objects, {
      clock,
      version: options.version ?? (() => RELEASE),
      authenticate: this.authenticate,
      aggregated,
      kubelets,
    });
    this.stops.push(collectGarbage(objects));
    // The catalogue and the garbage collector follow the restoring writes; parts started later list the objects.
    if (stateFile !== undefined) this.stops.push(keepState(stateFile, store));
    this.stops.push(keepNamespaces(objects), keepDefinitions(objects), keepQuotas(objects));
    this.kube = new LocalKube(objects, (path) => this.rawGet(path));
    createInitialObjects(objects);
  }

  /** Ends every watch, like a restart of the process; objects and URL do not change. */
  restart(): void {
    this.objects.store.endWatches();
  }

  /** Serves HTTPS until `close`. Fails when the port is taken. */
  async listen(options: ListenOptions = {}): Promise<Endpoint> {
    if (this.listening !== undefined) return this.listening.endpoint;
    // Roles, flow control and APIServices are only needed for clients on the network.
    createNetworkObjects(this.objects);
    this.stops.push(aggregateRoles(this.objects), recordApiServices(this.objects, this.options.aggregated ?? []));
    const host = options.host ?? '127.0.0.1';
    // Real time, because clients check certificates by their own clocks.
    const now = { now: Date.now() };
    const authority = await createCertificateAuthority({ commonName: 'nodewright-local-ca', ...now });
    const [serving, clientCertificate] = await Promise.all([
      issueServerCertificate(authority, [...new Set([...SERVING_NAMES, host])], now),
      issueClientCertificate(authority, ADMIN.name, [MASTERS], now),
    ]);
    const token = this.options.random.uuid();
    const server = await listenHttps({
      handler: this.handler,
      clock: this.options.clock,
      serving,
      caPem: authority.certificate,
      authenticate: this.authenticate,
      port: options.port ?? 0,
      host,
      trouble: this.options.trouble,
    });
    const shown = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
    const url = `https://${shown.includes(':') ? `[${shown}]` : shown}:${server.port}`;
    this.listening = { server, endpoint: { url, caPem: authority.certificate, token, clientCertificate } };
    return this.listening.endpoint;
  }

  /** Returns the text of a kubeconfig; undefined while the server does not listen. */
  kubeconfig(names: KubeconfigNames): string | undefined {
    return this.listening && renderKubeconfig(this.listening.endpoint, names);
  }

  /** Writes a kubeconfig for the listening server. */
  async writeKubeconfig(path: string): Promise<void> {
    if (this.listening === undefined)
      throw new InvariantError('listen() must have succeeded before a kubeconfig can be written');
    await writeKubeconfigFile(path, this.listening.endpoint);
  }

  /** Returns the stored objects of a kind synchronously. */
  peek(group: string, plural: string): readonly ApiObject[] {
    return [...this.objects.store.table(group, plural).values()];
  }

  /** Calls the listener with every write from now on, in order of revision; returns a function that stops that. */
  onWrite(listener: (event: StoreEvent, table: string) => void): () => void {
    return this.objects.store.subscribe((event, { id }) => listener(event, id));
  }

  /** Drops all history, like etcd's compaction: watches from older revisions get 410. */
  compact(): void {
    this.objects.store.compact();
  }

  async close(): Promise<void> {
    for (const stop of this.stops.splice(0)) stop();
    const listening = this.listening;
    this.listening = undefined;
    await listening?.server.close();
  }

  private async rawGet(path: string): Promise<unknown> {
    const url = parseUrl(path);
    if (url === undefined) throw badRequest(`${JSON.stringify(path)} is no path`);
    const response = this.handler({
      method: 'GET',
      ...url,
      headers: { accept: 'application/json' },
      body: Buffer.alloc(0),
      user: ADMIN,
      // Ends a watch at once.
      signal: AbortSignal.abort(),
    });
    let text = '';
    if (typeof response.body === 'string' || Buffer.isBuffer(response.body)) text = String(response.body);
    else for await (const line of response.body) text += line;
    const value: unknown = response.contentType.startsWith('application/json') ? JSON.parse(text) : text;
    if (response.code >= 400) {
      const status =
        typeof value === 'string' ? { status: 'Failure', message: value.trim(), code: response.code } : value;
      throw new KubeError(status as KubeStatus);
    }
    return value;
  }
}
