import { describe, expect, it } from 'vitest';
import { Kinds, type Event } from '../api/kinds.ts';
import type { KubeObject } from '../api/object.ts';
import { SeededRandom } from '../clock/seededRandom.ts';
import { VirtualClock } from '../clock/virtualClock.ts';
import { KubeError } from './errors.ts';
import { KubeEventRecorder, type EventDraft, type KubeEventRecorderOptions } from './eventRecorder.ts';
import type { Kube, ObjectRef, Patch } from './kube.ts';
import { silentLog, type Log } from './log.ts';
import { MemoryLeases } from '../../test/fixtures/kube/memoryLeases.ts';

/** Events as a server keeps them; `trouble` may throw before a request is served. */
function eventServer(clock: VirtualClock) {
  const start = clock.now();
  const events = new Map<string, Event>();
  const requests: string[] = [];
  const server = { events, requests, trouble: (_attempt: number): void => {} };
  const serve = async <T>(verb: string, operation: () => T): Promise<T> => {
    requests.push(`${(clock.now() - start) / 1_000} ${verb}`);
    await clock.sleep(1);
    server.trouble(requests.length);
    return operation();
  };
  const kube = {
    ...new MemoryLeases().client(),
    create: (_kind: unknown, event: Event) =>
      serve('create', () => {
        if (events.has(event.metadata.name)) throw new KubeError({ code: 409, reason: 'AlreadyExists' });
        events.set(event.metadata.name, event);
        return event;
      }),
    patch: (_kind: unknown, ref: ObjectRef, patch: Patch) =>
      serve('patch', () => {
        const event = events.get(ref.name);
        if (event === undefined) throw new KubeError({ code: 404, reason: 'NotFound' });
        events.set(ref.name, { ...event, ...(patch.body as object) });
        return event;
      }),
  } as unknown as Kube;
  return { kube, server };
}

function setUp(options: Partial<KubeEventRecorderOptions> = {}) {
  const clock = new VirtualClock(Date.parse('2030-01-01T00:00:00Z'), { quietTurns: 1 });
  const { kube, server } = eventServer(clock);
  const errors: string[] = [];
  const log: Log = {
    ...silentLog,
    error: (message, fields = {}) => void errors.push(`${message} ${JSON.stringify(fields['count'] ?? '')}`),
  };
  const recorder = new KubeEventRecorder({ kube, clock, random: new SeededRandom(1), log, ...options });
  const stored = (): Event[] => [...server.events.values()];
  return { clock, recorder, server, errors, stored };
}

const node: KubeObject = { metadata: { name: 'node-1', uid: 'u-1', resourceVersion: '5' } };
const blocked = (more: Partial<EventDraft> = {}): EventDraft => ({
  kind: Kinds.Node,
  object: node,
  type: 'Normal',
  reason: 'DisruptionBlocked',
  message: 'a pod forbids it',
  ...more,
});

describe('KubeEventRecorder', () => {
  it('writes a core/v1 event about the object, in its namespace or in default', async () => {
    const { clock, recorder, stored } = setUp({ instance: 'karpenter-1' });
    recorder.publish(blocked(), blocked({ kind: Kinds.Pod, object: { metadata: { name: 'p', namespace: 'shop' } } }));
    await clock.advance(1_000);
    const [first, second] = stored();
    expect(first).toEqual({
      metadata: { name: expect.stringMatching(/^node-1\.[0-9a-f]{16}$/) as string, namespace: 'default' },
      involvedObject: { apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'u-1', resourceVersion: '5' },
      type: 'Normal',
      reason: 'DisruptionBlocked',
      message: 'a pod forbids it',
      source: { component: 'karpenter', host: 'karpenter-1' },
      reportingComponent: 'karpenter',
      reportingInstance: 'karpenter-1',
      firstTimestamp: '2030-01-01T00:00:00Z',
      lastTimestamp: '2030-01-01T00:00:00Z',
      count: 1,
    });
    expect(second?.metadata.namespace).toBe('shop');
    expect(second?.involvedObject).toEqual({ apiVersion: 'v1', kind: 'Pod', name: 'p', namespace: 'shop' });
  });

  it('holds repetitions back for two minutes or as long as the event says, whatever their message', async () => {
    const { clock, recorder, server } = setUp();
    const publish = (seconds: number, event: EventDraft): void =>
      void clock.after(seconds * 1_000, () => recorder.publish(event));
    for (const [index, second] of [0, 60, 119, 120, 200, 241].entries()) {
      publish(second, blocked({ dedupeValues: ['u-1'], message: `message ${index}` }));
    }
    publish(10, blocked({ dedupeValues: ['u-2'] }));
    publish(30, blocked({ reason: 'Unconsolidatable', dedupeValues: ['u-1'], dedupeWindow: 900_000 }));
    publish(800, blocked({ reason: 'unconsolidatable', dedupeValues: ['u-1'], dedupeWindow: 900_000 }));
    publish(930, blocked({ reason: 'Unconsolidatable', dedupeValues: ['u-1'], message: 'again' }));
    await clock.advance(1_000_000);
    expect(server.requests).toEqual(['0 create', '10 create', '30 create', '120 create', '241 create', '930 create']);
  });

  it('raises the count of an event that is there already, and writes it anew when the server forgot it', async () => {
    const { clock, recorder, server, stored } = setUp();
    recorder.publish(blocked());
    await clock.advance(300_000);
    recorder.publish(blocked());
    await clock.advance(1_000);
    expect(stored()).toHaveLength(1);
    expect(stored()[0]).toMatchObject({
      count: 2,
      firstTimestamp: '2030-01-01T00:00:00Z',
      lastTimestamp: '2030-01-01T00:05:00Z',
    });
    server.events.clear();
    recorder.publish(blocked());
    await clock.advance(1_000);
    expect(stored()[0]).toMatchObject({ count: 3, firstTimestamp: '2030-01-01T00:00:00Z' });
    recorder.publish(blocked());
    await clock.advance(1_000);
    expect(stored().map(({ count }) => count)).toEqual([4]);
    expect(server.requests.map((request) => request.split(' ')[1])).toEqual([
      'create',
      'patch',
      'patch',
      'create',
      'patch',
    ]);
  });

  it('limits the rate per reason, and a limited event still silences its repetitions', async () => {
    const { clock, recorder, stored } = setUp();
    const rateLimit = { qps: 1, burst: 2 };
    const numbered = (number: number): EventDraft =>
      blocked({ rateLimit, dedupeValues: [String(number)], message: `number ${number}` });
    recorder.publish(numbered(1), numbered(2), numbered(3), blocked({ reason: 'Other', rateLimit }));
    await clock.advance(1_500);
    recorder.publish(numbered(3), numbered(4), numbered(5));
    await clock.advance(1_000);
    expect(stored().map(({ reason, message }) => `${reason} ${message}`)).toEqual([
      'DisruptionBlocked number 1',
      'DisruptionBlocked number 2',
      'Other a pod forbids it',
      'DisruptionBlocked number 4',
    ]);
  });

  it('tries again what fails on the way, a few times, and does not repeat what the server refuses', async () => {
    const { clock, recorder, server, errors, stored } = setUp();
    server.trouble = (attempt) => {
      if (attempt <= 3) throw new KubeError({ code: 503, reason: 'ServiceUnavailable' });
    };
    recorder.publish(blocked());
    await clock.advance(60_000);
    expect(stored()).toHaveLength(1);
    server.trouble = () => {
      throw new KubeError({ code: 403, reason: 'Forbidden' });
    };
    recorder.publish(blocked({ message: 'refused' }));
    await clock.advance(60_000);
    server.trouble = () => {
      throw new KubeError({ code: 0, reason: 'Unreachable' });
    };
    recorder.publish(blocked({ message: 'unreachable' }));
    await clock.advance(600_000);
    expect(server.requests).toHaveLength(4 + 1 + 6);
    expect(errors).toEqual(['cannot write an event ""', 'cannot write an event ""']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('counts an event as written when only the answer was lost', async () => {
    const { clock, recorder, server, stored } = setUp();
    let lost = false;
    const set = server.events.set.bind(server.events);
    server.events.set = (name, event) => {
      set(name, event);
      if (!lost) {
        lost = true;
        throw new KubeError({ code: 504, reason: 'Timeout' });
      }
      return server.events;
    };
    recorder.publish(blocked());
    await clock.advance(60_000);
    recorder.publish(blocked());
    await clock.advance(60_000);
    expect(stored().map(({ count }) => count)).toEqual([2]);
  });

  it('drops what does not fit into its queue, and says how many', async () => {
    const { clock, recorder, errors, stored } = setUp({ queueLimit: 10 });
    for (let number = 0; number < 25; number++) recorder.publish(blocked({ message: `number ${number}` }));
    await clock.advance(1_000);
    expect(stored()).toHaveLength(10);
    expect(errors).toEqual(['event queue full; dropped events 15']);
  });

  it('never throws into its caller', async () => {
    const { clock, recorder, errors, stored } = setUp();
    recorder.publish({ ...blocked(), object: {} as KubeObject }, blocked());
    await clock.advance(1_000);
    expect(errors).toEqual(['cannot compose an event ""']);
    expect(stored()).toHaveLength(1);
  });

  it('sends what waits when it is closed, but not for ever', async () => {
    const { clock, recorder, stored } = setUp();
    recorder.publish(blocked());
    const closed = recorder.close();
    await clock.advance(10);
    await closed;
    recorder.publish(blocked({ message: 'too late' }));
    await clock.advance(1_000);
    expect(stored()).toHaveLength(1);

    const { clock: slow, recorder: hopeless, server, errors } = setUp();
    server.trouble = () => {
      throw new KubeError({ code: 503, reason: 'ServiceUnavailable' });
    };
    hopeless.publish(blocked(), blocked({ message: 'second' }));
    const gone = hopeless.close();
    await slow.advance(2_000);
    await gone;
    await slow.advance(60_000);
    expect(errors[0]).toBe('stopping with unsent events 2');
    expect(slow.pendingTimers).toBe(0);
  });
});
