/**
 * Issues tokens of service accounts for TokenRequests, and authenticates them. The key is not kept between processes,
 * because only this server checks the signatures.
 */
import { createPublicKey, generateKeyPairSync, sign, verify, type KeyObject } from 'node:crypto';
import { timestamp } from '../../units/timestamp.ts';
import { accountGroups, accountUserName, AUTHENTICATED, type User } from './access/user.ts';
import { ownershipAfterUpdate } from './apply/managedFields.ts';
import { fieldsAt, isFields, listAt, numberAt, textAt, type ApiObject, type Fields } from './fields.ts';
import { shapeNamed } from './kubernetesTypes.ts';
import type { Objects } from './objects.ts';
import { badRequest, invalid, invalidValue, notFound } from './status.ts';
import { keyOf, type Store } from './store.ts';

const ISSUER = 'https://kubernetes.default.svc';
const HOUR_SECONDS = 3600;
const LEAST_SECONDS = 600;
const MOST_SECONDS = 2 ** 32;

let signingKey: KeyObject | undefined;

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

const BOUND: Readonly<Record<string, string>> = { Pod: 'pods', Secret: 'secrets', Node: 'nodes' };

/** Returns the claims about the object that the token is bound to; throws if it does not exist. */
function boundObject(body: Fields, namespace: string, store: Store): Fields {
  const reference = fieldsAt(body, 'spec', 'boundObjectRef');
  if (reference === undefined) return {};
  const kind = textAt(reference, 'kind') ?? '';
  const name = textAt(reference, 'name') ?? '';
  const plural = Object.hasOwn(BOUND, kind) ? BOUND[kind] : undefined;
  if (plural === undefined) {
    const value = `${textAt(reference, 'apiVersion') ?? ''}, Kind=${kind}`;
    throw badRequest(`cannot bind token to object of type ${value}`);
  }
  const found = store.table('', plural).get(keyOf(kind === 'Node' ? undefined : namespace, name));
  if (found === undefined) throw notFound({ group: '', plural }, name);
  return { [kind.toLowerCase()]: { name, uid: found.metadata.uid } };
}

/** Returns the user of a token; undefined if the signature is wrong, it is expired, or its account is gone. */
export function accountOfToken(token: string, store: Store, now: number): User | undefined {
  const [head = '', body = '', signature = ''] = token.split('.');
  if (signingKey === undefined || signature === '') return undefined;
  const key = { key: createPublicKey(signingKey), dsaEncoding: 'ieee-p1363' } as const;
  if (!verify('sha256', Buffer.from(`${head}.${body}`), key, Buffer.from(signature, 'base64url'))) return undefined;
  const claims: unknown = JSON.parse(Buffer.from(body, 'base64url').toString('utf8'));
  const inCluster = fieldsAt(claims, 'kubernetes.io');
  const namespace = textAt(inCluster, 'namespace') ?? '';
  const name = textAt(inCluster, 'serviceaccount', 'name') ?? '';
  const uid = textAt(inCluster, 'serviceaccount', 'uid');
  if ((numberAt(claims, 'exp') ?? 0) * 1000 <= now) return undefined;
  if (!listAt(claims, 'aud').includes(ISSUER)) return undefined;
  if (store.table('', 'serviceaccounts').get(keyOf(namespace, name))?.metadata.uid !== uid) return undefined;
  const extra: Record<string, readonly string[]> = {
    'authentication.kubernetes.io/credential-id': [`JTI=${textAt(claims, 'jti') ?? ''}`],
  };
  for (const [kind, plural] of Object.entries(BOUND)) {
    const bound = inCluster?.[kind.toLowerCase()];
    if (!isFields(bound)) continue;
    const boundName = textAt(bound, 'name') ?? '';
    const live = store.table('', plural).get(keyOf(kind === 'Node' ? undefined : namespace, boundName));
    if (live?.metadata.uid !== bound['uid']) return undefined;
    extra[`authentication.kubernetes.io/${kind.toLowerCase()}-name`] = [boundName];
    extra[`authentication.kubernetes.io/${kind.toLowerCase()}-uid`] = [String(bound['uid'])];
  }
  const groups = [...accountGroups(namespace), AUTHENTICATED];
  return { name: accountUserName({ namespace, name }), uid, groups, extra };
}

export function requestToken(objects: Objects, account: ApiObject, body: Fields, fieldManager: string): object {
  const now = objects.clock.now();
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
    jti: objects.uuid(),
    'kubernetes.io': { namespace, serviceaccount: { name, uid }, ...boundObject(body, namespace, objects.store) },
    nbf: issued,
    sub: `system:serviceaccount:${namespace}:${name}`,
  });
  const signature = sign('sha256', Buffer.from(`${head}.${claims}`), { key: signingKey, dsaEncoding: 'ieee-p1363' });
  const shape = shapeNamed('io.k8s.api.authentication.v1.TokenRequest');
  const written = { ...body, metadata: fieldsAt(body, 'metadata') ?? {} } as unknown as ApiObject;
  const managedFields = ownershipAfterUpdate(shape, undefined, written, {
    manager: fieldManager,
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
