/** Tokens for the subscription of the shared galleries, needed in addition for a VM that boots from there. */
import { NodewrightError } from '../errors/nodewrightError.ts';
import { createDefaultHttpClient, type HttpClient, type PipelinePolicy } from '@azure/core-rest-pipeline';
import type { TokenCredential } from '@azure/core-auth';
import type { Clock } from '../clock/clock.ts';
import { getPlain } from './plainRequest.ts';

export interface SharedImageTokensOptions {
  /** Address of the server that issues them. */
  readonly server: string;
  readonly scope: string;
  readonly credential: TokenCredential;
  readonly httpClient?: HttpClient | undefined;
  readonly caPem?: string | undefined;
  readonly clock: Clock;
}

interface Issued {
  readonly Token?: string;
  readonly ExpiresOn?: string;
  readonly RefreshOn?: string;
}

const HEADER = 'x-ms-authorization-auxiliary';
const MARGIN = 5 * 60_000;

export class SharedImageTokens {
  private readonly options: SharedImageTokensOptions;
  private known: { readonly token: string; readonly until: number } | undefined;

  constructor(options: SharedImageTokensOptions) {
    this.options = options;
  }

  /** Adds the token to requests that create or change VMs. */
  policy(): PipelinePolicy {
    return {
      name: 'sharedImageToken',
      sendRequest: async (request, next) => {
        const writes = request.method === 'PUT' || request.method === 'PATCH';
        if (writes && /\/virtualMachines\/[^/]+(?:\?|$)/i.test(request.url)) {
          request.headers.set(HEADER, `Bearer ${await this.token()}`);
        }
        return next(request);
      },
    };
  }

  private async token(): Promise<string> {
    const { clock } = this.options;
    if (this.known !== undefined && clock.now() < this.known.until) return this.known.token;
    const { Token = '', ExpiresOn = '', RefreshOn = '' } = await clock.track(this.ask());
    if (Token === '') throw unusable('it holds no token');
    const times = [Date.parse(RefreshOn), Date.parse(ExpiresOn) - MARGIN].filter((time) => !Number.isNaN(time));
    this.known = { token: Token, until: Math.min(...times, Number.MAX_SAFE_INTEGER) };
    return Token;
  }

  private async ask(): Promise<Issued> {
    const { server, scope, credential, caPem, httpClient = createDefaultHttpClient() } = this.options;
    const own = await credential.getToken(scope);
    const url = new URL(server);
    url.searchParams.set('scope', scope);
    const { status, text } = await getPlain(httpClient, { url: url.toString(), token: own?.token ?? '', caPem });
    if (status !== 200) throw unusable(`status ${status}`);
    return JSON.parse(text) as Issued;
  }
}

function unusable(problem: string): NodewrightError<'AzureAnswerUnusable'> {
  return new NodewrightError('AzureAnswerUnusable', { source: 'the token server of the shared galleries', problem });
}
