/**
 * Access tokens of the local directory. In: client credentials. Out: signed tokens with an end, and the check of the
 * `Authorization` header that every ARM call passes.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../clock/clock.ts';
import { ArmError } from './armError.ts';

export interface LocalCredentials {
  readonly tenantId: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

const LIFETIME_SECONDS = 3600;

export class Tokens {
  readonly credentials: LocalCredentials;
  private readonly clock: Clock;

  constructor(clock: Clock, credentials: LocalCredentials) {
    this.clock = clock;
    this.credentials = credentials;
  }

  /** The OAuth 2 client-credentials grant; `form` is the body of the POST. */
  grant(form: URLSearchParams): object {
    if (form.get('grant_type') !== 'client_credentials') {
      throw new ArmError(400, 'unsupported_grant_type', 'Only the grant type client_credentials is supported.');
    }
    const known =
      form.get('client_id') === this.credentials.clientId &&
      form.get('client_secret') === this.credentials.clientSecret;
    if (!known) throw new ArmError(401, 'invalid_client', 'The client is unknown or its secret is wrong.');
    return {
      token_type: 'Bearer',
      expires_in: LIFETIME_SECONDS,
      ext_expires_in: LIFETIME_SECONDS,
      access_token: this.issue(form.get('scope') ?? ''),
    };
  }

  /** What the instance metadata service answers to a managed identity. */
  managedIdentity(resource: string): object {
    const expiresOn = Math.floor(this.clock.now() / 1000) + LIFETIME_SECONDS;
    return {
      access_token: this.issue(resource),
      client_id: this.credentials.clientId,
      expires_in: String(LIFETIME_SECONDS),
      expires_on: String(expiresOn),
      not_before: String(expiresOn - LIFETIME_SECONDS),
      resource,
      token_type: 'Bearer',
    };
  }

  check(authorization: string | undefined): void {
    const token = /^Bearer (.+)$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) {
      throw this.unauthorized('AuthenticationFailed', "Authentication failed. The 'Authorization' header is missing.");
    }
    const [header = '', payload = '', signature = ''] = token.split('.');
    const expected = Buffer.from(this.sign(`${header}.${payload}`));
    const given = Buffer.from(signature);
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
      throw this.unauthorized('InvalidAuthenticationToken', 'The access token is invalid.');
    }
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as { readonly exp: number };
    if (claims.exp * 1000 <= this.clock.now()) {
      throw this.unauthorized('ExpiredAuthenticationToken', 'The access token has expired.');
    }
  }

  /** A token that never ends, for callers in this process: their clock may run faster than the SDK's. */
  endless(): string {
    return this.issue('local', Number.MAX_SAFE_INTEGER / 1000);
  }

  private issue(audience: string, expiry?: number): string {
    const now = Math.floor(this.clock.now() / 1000);
    const claims = {
      aud: audience.replace(/\/?\.default$/, ''),
      iss: `https://sts.windows.net/${this.credentials.tenantId}/`,
      iat: now,
      nbf: now,
      exp: expiry ?? now + LIFETIME_SECONDS,
      appid: this.credentials.clientId,
      tid: this.credentials.tenantId,
    };
    const unsigned = `${encode({ typ: 'JWT', alg: 'HS256' })}.${encode(claims)}`;
    return `${unsigned}.${this.sign(unsigned)}`;
  }

  private sign(text: string): string {
    return createHmac('sha256', this.credentials.clientSecret).update(text).digest('base64url');
  }

  private unauthorized(code: string, message: string): ArmError {
    const address = `https://login.microsoftonline.com/${this.credentials.tenantId}`;
    return new ArmError(401, code, message, {
      headers: { 'www-authenticate': `Bearer authorization_uri="${address}", error="invalid_token"` },
    });
  }
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
