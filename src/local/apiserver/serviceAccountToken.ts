/**
 * POST serviceaccounts/token. In: an account and a TokenRequest. Out: the request with a signed token in its status. The
 * key lives as long as the process; nobody but this server checks the signature.
 */
import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { ownershipAfterUpdate } from './apply/managedFields.ts';
import { fieldsAt, listAt, numberAt, type ApiObject, type Fields } from './fields.ts';
import { timestamp } from './humanTime.ts';
import { shapeNamed } from './kubernetesTypes.ts';
import { invalid, invalidValue } from './status.ts';

const ISSUER = 'https://kubernetes.default.svc';
const HOUR_SECONDS = 3600;
const LEAST_SECONDS = 600;
const MOST_SECONDS = 2 ** 32;

let signingKey: KeyObject | undefined;

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

export interface TokenContext {
  readonly now: number;
  readonly fieldManager: string;
  uuid(): string;
}

export function requestToken(account: ApiObject, body: Fields, context: TokenContext): object {
  const { now } = context;
  const seconds = numberAt(body, 'spec', 'expirationSeconds') ?? HOUR_SECONDS;
  const refuse = (why: string): never => {
    const error = invalidValue('spec.expirationSeconds', seconds, why);
    throw invalid({ group: 'authentication.k8s.io', kind: 'TokenRequest' }, '', [error]);
  };
  if (seconds < LEAST_SECONDS) refuse('may not specify a duration less than 10 minutes');
  if (seconds > MOST_SECONDS) refuse('may not specify a duration larger than 2^32 seconds');
  const asked = listAt(body, 'spec', 'audiences').map(String);
  const audiences = asked.length === 0 ? [ISSUER] : asked;
  const { name, namespace = '', uid } = account.metadata;
  const issued = Math.floor(now / 1000);
  signingKey ??= generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const head = encode({ alg: 'ES256', kid: 'nodewright-local' });
  const claims = encode({
    aud: audiences,
    exp: issued + seconds,
    iat: issued,
    iss: ISSUER,
    jti: context.uuid(),
    'kubernetes.io': { namespace, serviceaccount: { name, uid } },
    nbf: issued,
    sub: `system:serviceaccount:${namespace}:${name}`,
  });
  const signature = sign('sha256', Buffer.from(`${head}.${claims}`), { key: signingKey, dsaEncoding: 'ieee-p1363' });
  const shape = shapeNamed('io.k8s.api.authentication.v1.TokenRequest');
  const written = { ...body, metadata: fieldsAt(body, 'metadata') ?? {} } as unknown as ApiObject;
  const managedFields = ownershipAfterUpdate(shape, undefined, written, {
    manager: context.fieldManager,
    operation: 'Update',
    apiVersion: 'authentication.k8s.io/v1',
    subresource: 'token',
    time: timestamp(now),
  });
  return {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { ...written.metadata, name, namespace, uid, creationTimestamp: timestamp(now), managedFields },
    spec: { audiences, expirationSeconds: seconds, boundObjectRef: fieldsAt(body, 'spec', 'boundObjectRef') ?? null },
    status: {
      token: `${head}.${claims}.${signature.toString('base64url')}`,
      expirationTimestamp: timestamp((issued + seconds) * 1000),
    },
  };
}
