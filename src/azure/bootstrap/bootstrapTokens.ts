/**
 * The bootstrap token of new nodes: the configured one or, with `auto`, the cluster's token with the longest remaining
 * validity. Tokens expire and are replaced, so it is looked up repeatedly.
 */
import { Kinds } from '../../api/kinds.ts';
import { LaunchError } from '../../cloud/errors.ts';
import { launchDetail } from '../../errors/launchProblems.ts';
import type { Clock } from '../../clock/clock.ts';
import type { Kube } from '../../kube/kube.ts';

const DISCOVERED = 'auto';

export interface BootstrapTokensOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly configured: string;
}

interface FoundToken {
  readonly token: string;
  /** Milliseconds since the epoch; infinite if it does not expire. */
  readonly expires: number;
}

const NAMESPACE = 'kube-system';
const TYPE = 'bootstrap.kubernetes.io/token';
const KEPT_FOR = 5 * 60_000;
/** Booting takes minutes, so a token must be valid at least this long. */
const NEEDED_FOR = 20 * 60_000;

export class BootstrapTokens {
  private readonly options: BootstrapTokensOptions;
  private known: { readonly token: string; readonly until: number } | undefined;

  constructor(options: BootstrapTokensOptions) {
    this.options = options;
  }

  /** Throws when no token of the cluster is valid long enough. */
  async current(signal?: AbortSignal): Promise<string> {
    const { configured, clock } = this.options;
    if (configured !== DISCOVERED) return configured;
    if (this.known !== undefined && this.known.until > clock.now()) return this.known.token;
    const [best] = (await this.found(signal)).toSorted((left, right) => right.expires - left.expires);
    if (best === undefined || best.expires < clock.now() + NEEDED_FOR) {
      const wanted = { namespace: NAMESPACE, type: TYPE, minutes: NEEDED_FOR / 60_000 };
      throw new LaunchError('CreateInstanceFailed', launchDetail('NoBootstrapToken', wanted));
    }
    this.known = { token: best.token, until: Math.min(clock.now() + KEPT_FOR, best.expires - NEEDED_FOR) };
    return best.token;
  }

  private async found(signal: AbortSignal | undefined): Promise<readonly FoundToken[]> {
    const { items } = await this.options.kube.list(Kinds.Secret, {
      namespace: NAMESPACE,
      fieldSelector: `type=${TYPE}`,
      ...(signal && { signal }),
    });
    return items.flatMap(({ data = {} }) => {
      const text = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString('utf8');
      if (text('usage-bootstrap-authentication') !== 'true' || text('token-id') === '') return [];
      const expiration = text('expiration');
      const expires = expiration === '' ? Number.POSITIVE_INFINITY : Date.parse(expiration);
      return [{ token: `${text('token-id')}.${text('token-secret')}`, expires: Number.isNaN(expires) ? 0 : expires }];
    });
  }
}
