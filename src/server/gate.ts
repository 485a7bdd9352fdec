/**
 * Access control for the dashboard and profiles. Any web page may send requests from a browser on this host, so the
 * address, the origin and a session are checked before any answer: a foreign Host is DNS rebinding, a foreign Origin is
 * another site.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Why a request is refused. */
export interface Refusal {
  readonly status: 400 | 401 | 403;
  readonly message: string;
}

/** Checks a bearer token of the cluster; true when its user has access. */
export type ReviewToken = (token: string) => Promise<boolean>;

export interface GateOptions {
  /** Set when links with a one-time token give access: called with each new token. */
  readonly onToken?: (token: string) => void;
  /** Set when tokens of the cluster give access. */
  readonly reviewToken?: ReviewToken;
  /** Shown when access is refused. */
  readonly wayIn: string;
}

const LOOPBACK_NAMES: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);
const MOST_SESSIONS = 32;
const MOST_REMEMBERED_REVIEWS = 64;
/** Real milliseconds for which the API server's answer is cached. */
const REVIEW_HOLDS = 30_000;
const COOKIE = 'nodewright-dashboard';

const newSecret = (): string => randomBytes(24).toString('base64url');
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

const bearerOf = ({ authorization = '' }: IncomingMessage['headers']): string | undefined =>
  /^Bearer (\S+)$/i.exec(authorization)?.[1];

export class Gate {
  private readonly options: GateOptions;
  private token: string | undefined;
  /** Oldest first; with the cluster token, if one was used. */
  private readonly sessions: { readonly secret: Buffer; readonly token: string | undefined }[] = [];
  private readonly reviews = new Map<string, { readonly allowed: boolean; readonly until: number }>();

  constructor(options: GateOptions) {
    this.options = options;
    this.offerToken();
  }

  /** Called for every request before anything else. */
  refuseForeign({ headers, method }: Pick<IncomingMessage, 'headers' | 'method'>): Refusal | undefined {
    const { host = '', origin } = headers;
    if (!LOOPBACK_NAMES.has(host.replace(/:\d+$/, '').toLowerCase())) {
      return { status: 403, message: 'this address is served under the name of this host only' };
    }
    if (origin !== undefined && origin !== `http://${host}`) {
      return { status: 403, message: 'other sites may not read this' };
    }
    if (method !== 'GET' && method !== 'HEAD' && origin === undefined) {
      return { status: 403, message: 'a request that sends something names its origin' };
    }
    const site = headers['sec-fetch-site'];
    if (site === 'cross-site' && headers['sec-fetch-mode'] !== 'navigate') {
      return { status: 403, message: 'other sites may not read this' };
    }
    return undefined;
  }

  /** The cookie for a one-time token; undefined if it is wrong or already used. Then a new one is issued. */
  exchange(token: string): string | undefined {
    if (this.token === undefined || !timingSafeEqual(digest(token), digest(this.token))) return undefined;
    this.offerToken();
    return this.openSession();
  }

  /** The cookie for a token of the cluster; undefined if it does not give access. */
  async signIn(token: string): Promise<string | undefined> {
    return (await this.review(token)) ? this.openSession(token) : undefined;
  }

  async refuseStranger({ headers }: Pick<IncomingMessage, 'headers'>): Promise<Refusal | undefined> {
    const bearer = bearerOf(headers);
    if (bearer !== undefined && (await this.review(bearer))) return undefined;
    const session = this.sessionOf(headers);
    // The session of a token ends with the token, and with the rights of its user.
    if (session !== undefined && (session.token === undefined || (await this.review(session.token)))) return undefined;
    return { status: 401, message: this.options.wayIn };
  }

  /** The cluster token of an admitted visitor; undefined for one admitted by a link. */
  tokenOf({ headers }: Pick<IncomingMessage, 'headers'>): string | undefined {
    return bearerOf(headers) ?? this.sessionOf(headers)?.token;
  }

  get takesClusterTokens(): boolean {
    return this.options.reviewToken !== undefined;
  }

  private offerToken(): void {
    if (this.options.onToken === undefined) return;
    this.token = newSecret();
    this.options.onToken(this.token);
  }

  private sessionOf(headers: IncomingMessage['headers']) {
    for (const part of (headers.cookie ?? '').split(';')) {
      const [name = '', value = ''] = part.trim().split('=');
      if (name !== COOKIE) continue;
      const own = digest(value);
      const found = this.sessions.find(({ secret }) => timingSafeEqual(secret, own));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  private openSession(token?: string): string {
    const session = newSecret();
    this.sessions.push({ secret: digest(session), token });
    if (this.sessions.length > MOST_SESSIONS) this.sessions.shift();
    return `${COOKIE}=${session}; HttpOnly; SameSite=Strict; Path=/`;
  }

  private async review(token: string): Promise<boolean> {
    const { reviewToken } = this.options;
    if (reviewToken === undefined) return false;
    const key = digest(token).toString('base64');
    const known = this.reviews.get(key);
    if (known !== undefined && known.until > Date.now()) return known.allowed;
    const allowed = await reviewToken(token);
    this.reviews.delete(key);
    this.reviews.set(key, { allowed, until: Date.now() + REVIEW_HOLDS });
    const [oldest] = this.reviews.keys();
    if (this.reviews.size > MOST_REMEMBERED_REVIEWS && oldest !== undefined) this.reviews.delete(oldest);
    return allowed;
  }
}
