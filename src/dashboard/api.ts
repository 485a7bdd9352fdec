/** The addresses below /api and what they answer. */
import { Answers } from './answers.ts';
import type { DashboardFeed, Frame } from './feed.ts';
import type { DashboardSource } from './picture.ts';
import { decisionDetail, decisionsScreen } from './views/decisions.ts';
import { nodeScreen } from './views/node.ts';
import { nowScreen } from './views/now.ts';

/** What to answer; undefined: there is no such thing. */
type ApiAnswer = Promise<object | undefined> | object | undefined;

type Screen = (frame: Frame, query: URLSearchParams, name: string) => ApiAnswer;

export class DashboardApi {
  private readonly source: DashboardSource;
  private readonly feed: DashboardFeed;
  private readonly answers: Answers;
  private readonly screens: Readonly<Record<string, Screen>>;

  constructor(source: DashboardSource, feed: DashboardFeed) {
    this.source = source;
    this.feed = feed;
    this.answers = new Answers(source);
    const { ledger } = source;
    this.screens = {
      now: (frame) => this.now(frame),
      pending: ({ pending }) => pending,
      decisions: ({ time }, query) => decisionsScreen(ledger, decisionQuery(query), time),
      nodes: (frame, _query, name) =>
        name === '' ? { time: frame.time, nodes: frame.rows } : nodeScreen(frame, name, ledger, this.answers),
    };
  }

  /** `path` is what follows `/api/`, decoded, each part by itself. */
  async get([screen = '', ...rest]: readonly string[], query: URLSearchParams): Promise<object | undefined> {
    const [first = '', second = ''] = rest;
    if (screen === 'explain') return rest.length === 2 ? this.answers.pod(first, second) : undefined;
    if (screen === 'decision') return decisionDetail(this.source.ledger, Number(first));
    const show = Object.hasOwn(this.screens, screen) ? this.screens[screen] : undefined;
    if (show === undefined || rest.length > 1) return undefined;
    const frame = await this.feed.frame();
    return frame === undefined ? { waiting: true, state: this.source.state() } : show(frame, query, first);
  }

  /** The one question that brings a text with it. */
  whatIf(manifest: string): Promise<object> {
    return this.answers.whatIf(manifest);
  }

  private now({ time, state, rows, totals, pending }: Frame): object {
    const { title, ledger } = this.source;
    const stuck = pending.groups.reduce((sum, { count, reason }) => sum + (reason === '' ? 0 : count), 0);
    return nowScreen({ time, state, title, rows, totals, stuck, history: this.feed.history, ledger });
  }
}

function decisionQuery(query: URLSearchParams) {
  const before = Number(query.get('before') ?? '');
  return {
    kinds: query.getAll('kind'),
    text: query.get('text') ?? '',
    ...(query.has('before') && Number.isInteger(before) && { before }),
  };
}
