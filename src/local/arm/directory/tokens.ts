/** Access tokens of the local directory: for secrets, federated assertions and managed identities. */
import { createHmac, createPublicKey, verify } from 'node:crypto';
import type { Clock } from '../../../clock/clock.ts';
import { isSecret } from '../../requestBody.ts';
import { ArmError, DirectoryError } from '../armError.ts';
import type { Principal, Principals } from './principals.ts';

export interface LocalCredentials {
  readonly tenantId: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** Tokens of another issuer that are accepted in place of a client's secret: workload identity. */
export interface FederatedCredential {
  readonly clientId: string;
  readonly issuer: string;
  readonly subject: string;
  readonly publicKeyPem: string;
}

interface Claims {
  readonly exp: number;
  readonly appid: string;
}

/** Accepted in place of the tenant id: Entra's name for any tenant, and the path segment of AD FS. */
const OTHER_TENANTS: readonly string[] = ['organizations', 'adfs'];
const LIFETIME_SECONDS = 3600;
const EXCHANGE_AUDIENCE = 'api://AzureADTokenExchange';
const JWT_BEARER = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
/** OAuth's code for each of Entra's numbered errors; the status is 401 for `invalid_client` and 400 for others. */
const REFUSALS = {
  50027: 'invalid_client',
  70003: 'unsupported_grant_type',
  90002: 'invalid_request',
  700016: 'unauthorized_client',
  700024: 'invalid_client',
  700027: 'invalid_client',
  700213: 'invalid_request',
  900144: 'invalid_request',
  7000215: 'invalid_client',
} as const;

function refusal(number: keyof typeof REFUSALS, message: string): DirectoryError {
  const code = REFUSALS[number];
  return new DirectoryError(code === 'invalid_client' ? 401 : 400, code, number, message);
}

export class Tokens {
  private readonly clock: Clock;
  private readonly tenantId: string;
  private readonly key: string;
  private readonly principals: Principals;
  private readonly federated: FederatedCredential[] = [];

  /** `key` signs the tokens. */
  constructor(clock: Clock, tenantId: string, key: string, principals: Principals) {
    this.clock = clock;
    this.tenantId = tenantId;
    this.key = key;
    this.principals = principals;
  }

  federate(credential: FederatedCredential): void {
    this.federated.push(credential);
  }

  /** The OAuth 2 client-credentials grant, by secret or by assertion; `form` is the body of the POST. */
  grant(tenant: string, form: URLSearchParams): object {
    if (tenant.toLowerCase() !== this.tenantId.toLowerCase() && !OTHER_TENANTS.includes(tenant.toLowerCase())) {
      throw refusal(90002, `Tenant '${tenant}' not found. Check to make sure you have the correct tenant ID.`);
    }
    const grantType = form.get('grant_type');
    if (grantType === null) {
      throw refusal(900144, "The request body must contain the following parameter: 'grant_type'.");
    }
    if (grantType !== 'client_credentials') {
      throw refusal(70003, `The app requested an unsupported grant type '${grantType}'.`);
    }
    const clientId = form.get('client_id') ?? '';
    const principal = this.principals.find(clientId);
    if (principal === undefined) {
      throw refusal(
        700016,
        `Application with identifier '${clientId}' was not found in the directory '${this.tenantId}'.`,
      );
    }
    this.authenticate(principal, form);
    const scope = form.get('scope') ?? form.get('resource') ?? '';
    if (scope === '') throw refusal(900144, "The request body must contain the following parameter: 'scope'.");
    return {
      token_type: 'Bearer',
      expires_in: LIFETIME_SECONDS,
      ext_expires_in: LIFETIME_SECONDS,
      access_token: this.issue(principal, scope),
    };
  }

  /** Returns the answer of the metadata service to a managed identity. */
  managedIdentity(resource: string, clientId: string): object {
    const principal = this.principals.find(clientId);
    if (principal === undefined) throw new DirectoryError(400, 'invalid_request', undefined, 'Identity not found');
    if (resource === '') {
      throw new DirectoryError(400, 'invalid_request', undefined, 'Required query parameter resource not specified');
    }
    const expiresOn = Math.floor(this.clock.now() / 1000) + LIFETIME_SECONDS;
    return {
      access_token: this.issue(principal, resource),
      client_id: clientId,
      expires_in: String(LIFETIME_SECONDS),
      expires_on: String(expiresOn),
      ext_expires_in: String(LIFETIME_SECONDS),
      not_before: String(expiresOn - LIFETIME_SECONDS),
      resource,
      token_type: 'Bearer',
    };
  }

  /** Returns the secret key of a VM's metadata service, which stays the same while the process runs. */
  metadataKey(machine: string): string {
    // Hexadecimal, because clients write URLs in lower case.
    return createHmac('sha256', this.key).update(`metadata of ${machine.toLowerCase()}`).digest('hex');
  }

  isMetadataKey(machine: string, key: string): boolean {
    return isSecret(key, this.metadataKey(machine));
  }

  /** Returns the principal of an Authorization header; throws 401 for an invalid token. */
  check(authorization: string | readonly string[] | undefined): Principal {
    const token = /^Bearer (.+)$/i.exec(typeof authorization === 'string' ? authorization : '')?.[1];
    if (token === undefined) {
      throw this.unauthorized('AuthenticationFailed', "Authentication failed. The 'Authorization' header is missing.");
    }
    const [header = '', payload = '', signature = ''] = token.split('.');
    if (!isSecret(signature, this.sign(`${header}.${payload}`))) {
      throw this.unauthorized('InvalidAuthenticationToken', 'The access token is invalid.');
    }
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as Claims;
    const seconds = Math.floor(this.clock.now() / 1000);
    if (claims.exp <= seconds) {
      throw this.unauthorized(
        'ExpiredAuthenticationToken',
        `The access token expiry UTC time '${new Date(claims.exp * 1000).toUTCString()}' is earlier than current UTC time '${new Date(seconds * 1000).toUTCString()}'.`,
      );
    }
    const principal = this.principals.find(claims.appid);
    if (principal === undefined) throw this.unauthorized('InvalidAuthenticationToken', 'The access token is invalid.');
    return principal;
  }

  /** Returns a token that never expires, for clients in this process: their clock may run faster than the SDK's. */
  endless(principal: Principal): string {
    return this.issue(principal, 'local', Number.MAX_SAFE_INTEGER / 1000);
  }

  /** Returns a token that expires at `expiry`, in seconds, by default after an hour. */
  issue(principal: Principal, audience: string, expiry?: number): string {
    const now = Math.floor(this.clock.now() / 1000);
    const claims = {
      aud: audience.replace(/\/?\.default$/, ''),
      iss: `https://sts.windows.net/${this.tenantId}/`,
      iat: now,
      nbf: now,
      exp: expiry ?? now + LIFETIME_SECONDS,
      appid: principal.clientId,
      oid: principal.objectId,
      sub: principal.objectId,
      idtyp: 'app',
      tid: this.tenantId,
      ver: '1.0',
    };
    const unsigned = `${encode({ typ: 'JWT', alg: 'HS256' })}.${encode(claims)}`;
    return `${unsigned}.${this.sign(unsigned)}`;
  }

  private authenticate(principal: Principal, form: URLSearchParams): void {
    if (form.get('client_assertion_type') === JWT_BEARER) {
      return this.checkAssertion(principal.clientId, form.get('client_assertion') ?? '');
    }
    if (isSecret(form.get('client_secret') ?? '', principal.clientSecret)) return;
    throw refusal(
      7000215,
      `Invalid client secret provided. Ensure the secret being sent in the request is the client secret value, not the client secret ID, for a secret added to app '${principal.clientId}'.`,
    );
  }

  private checkAssertion(clientId: string, assertion: string): void {
    const [header = '', payload = '', signature = ''] = assertion.split('.');
    const claims = parseClaims(payload);
    const known = this.federated.find(
      (each) => each.clientId === clientId && each.issuer === claims['iss'] && each.subject === claims['sub'],
    );
    if (known === undefined || ![claims['aud']].flat().includes(EXCHANGE_AUDIENCE)) {
      throw refusal(
        700213,
        `No matching federated identity record found for presented assertion subject '${String(claims['sub'])}'. Check your federated identity credential Subject, Audience and Issuer against the presented assertion.`,
      );
    }
    const signed = Buffer.from(`${header}.${payload}`);
    const key = createPublicKey(known.publicKeyPem);
    if (!verify('sha256', signed, key, Buffer.from(signature, 'base64url'))) {
      throw refusal(700027, 'The certificate or key used to sign the assertion is not registered.');
    }
    if (Number(claims['exp']) * 1000 > this.clock.now()) return;
    throw refusal(700024, 'Client assertion is not within its valid time range.');
  }

  private sign(text: string): string {
    return createHmac('sha256', this.key).update(text).digest('base64url');
  }

  private unauthorized(code: string, message: string): ArmError {
    const address = `https://login.microsoftonline.com/${this.tenantId}`;
    return new ArmError(401, code, message, {
      headers: {
        'www-authenticate': `Bearer authorization_uri="${address}", error="invalid_token", error_description="${message}"`,
      },
    });
  }
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function parseClaims(payload: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as Readonly<Record<string, unknown>>;
  } catch {
    throw refusal(50027, 'JWT token is invalid or malformed.');
  }
}
