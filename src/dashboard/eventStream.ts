/**
 * Live data as Server-Sent Events: at most one message per second and client, with the changes since the last one. A
 * slow client gets fewer messages, and too many clients are refused.
 */
import type { ServerResponse } from 'node:http';
import type { DashboardFeed, Frame } from './feed.ts';
import type { NodeRow, StreamMessage } from './screens.ts';

const MOST_CLIENTS = 16;
/** Real milliseconds. */
const INTERVAL = 1_000;
/**
 * After this many rounds without changes a message is sent anyway, so that the client knows that the stream is alive.
 */
const SILENT_ROUNDS = 10;

interface Client {
  readonly response: ServerResponse;
  readonly wantsNodes: boolean;
  /** The rows sent so far. */
  sent: ReadonlyMap<string, NodeRow> | undefined;
  version: number;
  /** The last decision sent. */
  sequence: number;
  state: string;
  silence: number;
  isBlocked: boolean;
}

export class EventStream {
  private readonly feed: DashboardFeed;
  private readonly nextSequence: () => number;
  private readonly clients = new Set<Client>();
  private timer: NodeJS.Timeout | undefined;

  constructor(feed: DashboardFeed, nextSequence: () => number) {
    this.feed = feed;
    this.nextSequence = nextSequence;
  }

  /** False when there are too many clients. */
  add(response: ServerResponse, wantsNodes: boolean): boolean {
    if (this.clients.size >= MOST_CLIENTS) return false;
    const client: Client = {
      response,
      wantsNodes,
      sent: undefined,
      version: -1,
      sequence: -1,
      state: '',
      silence: 0,
      isBlocked: false,
    };
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    response.write('retry: 2000\n\n');
    response.on('drain', () => {
      client.isBlocked = false;
    });
    response.on('close', () => this.remove(client));
    this.clients.add(client);
    this.timer ??= setInterval(() => void this.round(), INTERVAL);
    void this.round();
    return true;
  }

  close(): void {
    for (const client of this.clients) {
      client.response.end();
      this.remove(client);
    }
  }

  private remove(client: Client): void {
    this.clients.delete(client);
    if (this.clients.size > 0 || this.timer === undefined) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private async round(): Promise<void> {
    let frame: Frame | undefined;
    try {
      frame = await this.feed.frame();
    } catch {
      // The page reports the silence; the next round tries again.
      return;
    }
    if (frame === undefined) return;
    for (const client of this.clients) if (!client.isBlocked) this.tell(client, frame);
  }

  private tell(client: Client, frame: Frame): void {
    const nodes = client.wantsNodes ? changesOf(client.sent, frame.rows) : undefined;
    const sequence = this.nextSequence();
    const isNews =
      nodes !== undefined ||
      client.sequence !== sequence ||
      client.state !== frame.state ||
      client.version < frame.version;
    client.silence = isNews ? 0 : client.silence + 1;
    if (!isNews && client.silence < SILENT_ROUNDS) return;
    const { time, state, version, totals } = frame;
    const message: StreamMessage = { time, state, version, totals, ...(nodes && { nodes }) };
    Object.assign(client, { version, sequence, state, silence: 0 });
    if (client.wantsNodes) client.sent = new Map(frame.rows.map((row) => [row.name, row]));
    client.isBlocked = !client.response.write(`data: ${JSON.stringify(message)}\n\n`);
  }
}

/** Unchanged rows are identical objects. */
function changesOf(sent: ReadonlyMap<string, NodeRow> | undefined, rows: readonly NodeRow[]): StreamMessage['nodes'] {
  const changed = sent === undefined ? rows : rows.filter((row) => sent.get(row.name) !== row);
  const names = new Set(rows.map(({ name }) => name));
  const gone = sent === undefined ? [] : [...sent.keys()].filter((name) => !names.has(name));
  return sent !== undefined && changed.length === 0 && gone.length === 0 ? undefined : { changed, gone };
}
