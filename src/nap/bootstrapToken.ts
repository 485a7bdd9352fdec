/**
 * The bootstrap token of new nodes, as managed by AKS: a Secret of the cluster, replaced daily. The previous one stays
 * valid for a while for nodes that are still booting, and is then revoked. Never logged.
 */
import { createHash } from 'node:crypto';
import { Kinds, type Secret } from '../api/kinds.ts';
import type { Clock } from '../clock/clock.ts';
import type { Random } from '../clock/random.ts';
import { ignoreNotFound } from '../kube/errors.ts';
import type { Draft, Kube } from '../kube/kube.ts';
import type { Log } from '../kube/log.ts';

const NAMESPACE = 'kube-system';
const TYPE = 'bootstrap.kubernetes.io/token';
/** Marks our tokens; other tokens are not touched. */
const OWNED = { key: 'nodewright.dev/bootstrap-token', value: 'managed' } as const;
const ISSUED = 'nodewright.dev/issued';
const HOUR = 3_600_000;
/** Long enough for two rotations: a controller that was down for a day still finds a valid token. */
const LIFETIME = 72 * HOUR;
const ROTATE_AFTER = 24 * HOUR;
/** Longer than a launch caches a token plus the time for a node to join. */
export const REVOKE_AFTER = HOUR;

export interface TokenKeeping {
  readonly kube: Kube;
  readonly clock: Pick<Clock, 'now'>;
  readonly random: Pick<Random, 'uuid'>;
  readonly log: Log;
}

interface Issued {
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Repeatable; a process that dies between two writes leaves an extra token, which the next run revokes. */
export async function keepBootstrapToken({ kube, clock, random, log }: TokenKeeping): Promise<void> {
  const now = clock.now();
  const tokens = await issuedTokens(kube);
  const [newest] = tokens;
  if (newest === undefined || now - newest.at >= ROTATE_AFTER) {
    const { id, secret } = newToken(random);
    await kube.create(Kinds.Secret, draft(id, secret, now));
    log.info(newest === undefined ? 'made a bootstrap token' : 'rotated the bootstrap token');
    return;
  }
  // The newest token replaced the others when it was issued.
  if (now - newest.at < REVOKE_AFTER) return;
  for (const { name } of tokens.slice(1)) await revoke(kube, name);
  if (tokens.length > 1) log.info('revoked old bootstrap tokens', { count: tokens.length - 1 });
}

/** Newest first. */
async function issuedTokens(kube: Kube): Promise<readonly Issued[]> {
  const { items } = await kube.list(Kinds.Secret, {
    namespace: NAMESPACE,
    labelSelector: `${OWNED.key}=${OWNED.value}`,
  });
  return items
    .filter(({ type }) => type === TYPE)
    .map(({ metadata }) => ({ name: metadata.name, at: Date.parse(metadata.annotations?.[ISSUED] ?? '') || 0 }))
    .toSorted((left, right) => right.at - left.at);
}

async function revoke(kube: Kube, name: string): Promise<void> {
  await ignoreNotFound(kube.delete(Kinds.Secret, { namespace: NAMESPACE, name }));
}

/** 36^16 secrets, from 244 random bits. */
function newToken(random: TokenKeeping['random']): { readonly id: string; readonly secret: string } {
  const digest = createHash('sha512').update(`${random.uuid()}${random.uuid()}`).digest('hex');
  const letters = BigInt(`0x${digest}`).toString(36).padStart(32, '0');
  return { id: letters.slice(-22, -16), secret: letters.slice(-16) };
}

function draft(id: string, secret: string, now: number): Draft<Secret> {
  const data = {
    'token-id': id,
    'token-secret': secret,
    expiration: new Date(now + LIFETIME).toISOString(),
    'usage-bootstrap-authentication': 'true',
    'usage-bootstrap-signing': 'true',
    'auth-extra-groups': 'system:bootstrappers:nodes',
  };
  return {
    metadata: {
      namespace: NAMESPACE,
      name: `bootstrap-token-${id}`,
      labels: { [OWNED.key]: OWNED.value },
      annotations: { [ISSUED]: new Date(now).toISOString() },
    },
    type: TYPE,
    data: Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')] as const),
    ),
  };
}
