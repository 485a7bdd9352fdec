/**
 * Profiles of the running process below /debug/pprof/, as in Go programs; open the files with Chrome's developer tools
 * or speedscope. One profile at a time, of limited duration.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Session } from 'node:inspector/promises';
import { pipeline } from 'node:stream/promises';
import { getHeapSnapshot } from 'node:v8';
import { answerText } from './httpEndpoint.ts';

const DEFAULT_SECONDS = 30;
const MAXIMUM_SECONDS = 120;
const PREFIX = '/debug/pprof/';

const INDEX = `Profiles of this process:
${PREFIX}profile?seconds=30   CPU profile (open the .cpuprofile in Chrome's developer tools or speedscope)
${PREFIX}allocs?seconds=30    sampled memory allocations (.heapprofile)
${PREFIX}heap                 heap snapshot (.heapsnapshot); pauses the process, and contains secrets
`;

export function isProfilingPath(path: string): boolean {
  return path === PREFIX.slice(0, -1) || path.startsWith(PREFIX);
}

export class Profiler {
  private busy = false;

  async handle(url: URL, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const profile = url.pathname.slice(PREFIX.length);
    if (profile === '') return answerText(response, 200, INDEX);
    if (profile !== 'profile' && profile !== 'allocs' && profile !== 'heap')
      return answerText(response, 404, `there is no profile "${profile}" here.\n${INDEX}`);
    const seconds = Number(url.searchParams.get('seconds') ?? DEFAULT_SECONDS);
    if (!(seconds > 0 && seconds <= MAXIMUM_SECONDS))
      return answerText(response, 400, `seconds must be more than 0 and at most ${MAXIMUM_SECONDS}\n`);
    if (this.busy) return answerText(response, 503, 'another profile is being taken; try again when it is done\n');
    this.busy = true;
    try {
      await (profile === 'heap' ? sendHeapSnapshot(response) : sendProfile(profile, seconds, request, response));
    } finally {
      this.busy = false;
    }
  }
}

async function sendProfile(
  kind: 'profile' | 'allocs',
  seconds: number,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const session = new Session();
  session.connect();
  /** Sends the headers when recording starts, so that a client sees that the request is being served. */
  const record = (file: string): Promise<void> => {
    attach(response, file);
    response.flushHeaders();
    return waitOrHangup(seconds, request);
  };
  try {
    response.end(JSON.stringify(await (kind === 'profile' ? recordCpu : recordAllocations)(session, record)));
  } finally {
    session.disconnect();
  }
}

type Recording = (file: string) => Promise<void>;

async function recordCpu(session: Session, record: Recording): Promise<unknown> {
  await session.post('Profiler.enable');
  await session.post('Profiler.start');
  await record('nodewright.cpuprofile');
  return (await session.post('Profiler.stop')).profile;
}

async function recordAllocations(session: Session, record: Recording): Promise<unknown> {
  await session.post('HeapProfiler.enable');
  await session.post('HeapProfiler.startSampling');
  await record('nodewright.heapprofile');
  return (await session.post('HeapProfiler.stopSampling')).profile;
}

/** Ends a profile early when its client disconnects, so that the next one can start. */
function waitOrHangup(seconds: number, request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      request.socket.off('close', finish);
      resolve();
    };
    const timer = setTimeout(finish, seconds * 1000);
    request.socket.once('close', finish);
  });
}

async function sendHeapSnapshot(response: ServerResponse): Promise<void> {
  attach(response, 'nodewright.heapsnapshot');
  await pipeline(getHeapSnapshot(), response);
}

function attach(response: ServerResponse, file: string): void {
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-disposition': `attachment; filename="${file}"`,
  });
}
