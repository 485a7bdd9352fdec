/**
 * The version of the API server. An upgrade replaces the server process, which ends its watches, so the version is read
 * again when a watch breaks off, not periodically.
 */
import type { Clock } from '../clock/clock.ts';
import { NodewrightError } from '../errors/nodewrightError.ts';
import type { Kube } from './kube.ts';

/** Servers behind one address are upgraded one after another, so different versions may answer. */
const SETTLING = 15 * 60_000;
/** During that time, an answer is cached this long. */
const KEPT_FOR = 60_000;

export class ServerVersion {
  private readonly kube: Pick<Kube, 'raw'>;
  private readonly clock: Clock;
  private known: { readonly text: string; readonly at: number; readonly doubts: number } | undefined;
  private doubts = 0;
  private doubtedAt: number;

  constructor({ kube, clock }: { readonly kube: Pick<Kube, 'raw'>; readonly clock: Clock }) {
    this.kube = kube;
    this.clock = clock;
    this.doubtedAt = clock.now();
  }

  /** Call when the server may have been replaced. */
  doubt(): void {
    this.doubts += 1;
    this.doubtedAt = this.clock.now();
  }

  /** Without a leading `v`. */
  async current(signal?: AbortSignal): Promise<string> {
    if (this.known !== undefined && this.holds(this.known)) return this.known.text;
    // A doubt raised during the request remains.
    const asked = { at: this.clock.now(), doubts: this.doubts };
    const answer = (await this.kube.raw('/version', signal && { signal })) as { readonly gitVersion?: string };
    const text = answer.gitVersion?.replace(/^v/, '');
    if (text === undefined || text === '') throw new NodewrightError('ServerVersionUnknown', {});
    this.known = { text, ...asked };
    return text;
  }

  private holds({ at, doubts }: { readonly at: number; readonly doubts: number }): boolean {
    if (doubts !== this.doubts) return false;
    return at >= this.doubtedAt + SETTLING || this.clock.now() < at + KEPT_FOR;
  }
}
