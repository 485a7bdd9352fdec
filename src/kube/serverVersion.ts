/**
 * The version of the API server. A server of another version is another process, and its start ends the watches of the
 * one before: so the version is read when a watch has broken off, not from time to time.
 */
import type { Clock } from '../clock/clock.ts';
import { NodewrightError } from '../errors/nodewrightError.ts';
import type { Kube } from './kube.ts';

/** Servers behind one address are replaced one after another, and any of them may have answered. */
const SETTLING = 15 * 60_000;
/** Until they have settled, an answer is good for this long. */
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

  /** The server may have become another one. */
  doubt(): void {
    this.doubts += 1;
    this.doubtedAt = this.clock.now();
  }

  /** Without a leading `v`. */
  async current(signal?: AbortSignal): Promise<string> {
    if (this.known !== undefined && this.holds(this.known)) return this.known.text;
    // What comes into doubt while the server is asked stays in doubt.
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
