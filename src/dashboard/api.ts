/** The paths below /api and their answers. */
import type { Answers } from './answers.ts';
import { mayApply, type VisitorKube } from './applyNodePool.ts';
import type { DashboardFeed, Frame } from './feed.ts';
import type { DashboardSource } from './picture.ts';
import { CAPACITY_METRICS, capacityScreen } from './views/capacity.ts';
import { churnScreen } from './views/churn.ts';
import { CONTROLLER_METRICS, controllerScreen } from './views/controller.ts';
import { decisionDetail, decisionsScreen } from './views/decisions.ts';
import { mapScreen } from './views/map.ts';
import { nodeScreen } from './views/node.ts';
import { nowScreen } from './views/now.ts';
import { rolloutScreen } from './views/rollout.ts';
import { readSamples } from './views/samples.ts';
import { savingsScreen } from './views/savings.ts';
import { spotScreen } from './views/spot.ts';

/** The answer; undefined: not found. */
type ApiAnswer = Promise<object | undefined> | object | undefined;

type Screen = (frame: Frame, query: URLSearchParams, name: string, visitor: VisitorKube | undefined) => ApiAnswer;

export class DashboardApi {
  private readonly source: DashboardSource;
  private readonly feed: DashboardFeed;
  private readonly answers: Answers;
  private readonly screens: Readonly<Record<string, Screen>>;

  constructor(source: DashboardSource, feed: DashboardFeed, answers: Answers) {
    this.source = source;
    this.feed = feed;
    this.answers = answers;
    const { ledger } = source;
    this.screens = {
      now: (frame) => this.now(frame),
      pending: ({ pending }) => pending,
      decisions: ({ time }, query) => decisionsScreen(ledger, decisionQuery(query), time),
      nodes: (frame, _query, name) =>
        name === '' ? { time: frame.time, nodes: frame.rows } : nodeScreen(frame, name, ledger, this.answers),
      savings: (frame) => savingsScreen(frame, ledger),
      churn: (frame) => churnScreen(frame, ledger),
      capacity: async (frame) => {
        const samples = await readSamples(source.metrics(), CAPACITY_METRICS);
        return capacityScreen(frame, ledger, samples, source.unavailable());
      },
      spot: (frame) => spotScreen(frame, ledger),
      rollout: (frame) => rolloutScreen(frame, ledger),
      map: (frame, query) => mapScreen(frame, query.get('pool') ?? ''),
      'what-if': async ({ time }, _query, _name, visitor) =>
        this.answers.pools(time, visitor !== undefined && (await mayApply(visitor))),
      controller: async (frame) => {
        const samples = await readSamples(source.metrics(), CONTROLLER_METRICS);
        return controllerScreen(frame, source.version, ledger, samples);
      },
    };
  }

  /** `path`: the decoded parts after `/api/`. */
  async get(
    [screen = '', ...rest]: readonly string[],
    query: URLSearchParams,
    visitor?: VisitorKube,
  ): Promise<object | undefined> {
    const [first = '', second = ''] = rest;
    if (screen === 'explain') return rest.length === 2 ? this.answers.pod(first, second) : undefined;
    if (screen === 'decision') return decisionDetail(this.source.ledger, Number(first));
    const show = Object.hasOwn(this.screens, screen) ? this.screens[screen] : undefined;
    if (show === undefined || rest.length > 1) return undefined;
    const frame = await this.feed.frame();
    return frame === undefined ? { waiting: true, state: this.source.state() } : show(frame, query, first, visitor);
  }

  /** The only question with a text as input. */
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
