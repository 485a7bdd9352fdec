import { createHttpHeaders, createPipelineRequest, RestError } from '@azure/core-rest-pipeline';
import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../clock/virtualClock.ts';
import type { AksMachineBody } from './aksMachineBody.ts';
import { batchHeader, MachineBatcher, type BatchEntry } from './machineBatcher.ts';

interface Sent {
  readonly at: number;
  readonly template: unknown;
  readonly names: readonly string[];
}

interface BodyParts {
  readonly labels?: Readonly<Record<string, string>>;
  readonly vmSize?: string;
  readonly ultraSsdEnabled?: boolean;
  readonly zones?: readonly string[];
}

function bodyOf({ labels = {}, vmSize = 'Standard_D2s_v3', ultraSsdEnabled = false, zones = ['1'] }: BodyParts = {}) {
  const properties = { hardware: { vmSize, ultraSsdEnabled }, kubernetes: { nodeLabels: labels }, tags: { a: 'b' } };
  return { properties, zones } satisfies AksMachineBody;
}

/** A batcher whose requests are answered by `answer`: undefined when all is well. */
function rig(answer: (names: readonly string[]) => Error | undefined = () => undefined, size = 50) {
  const clock = new VirtualClock(0);
  const sent: Sent[] = [];
  const outcomes: Record<string, string> = {};
  const batcher = new MachineBatcher({
    idle: 1_000,
    max: 5_000,
    size,
    clock,
    send: async (template: unknown, entries: readonly BatchEntry[]) => {
      const names = entries.map(({ machineName }) => machineName);
      sent.push({ at: clock.now(), template, names });
      const error = answer(names);
      if (error !== undefined) throw error;
    },
  });
  const add = (name: string, parts?: BodyParts): void => {
    batcher.add(name, bodyOf(parts)).then(
      () => (outcomes[name] = 'accepted'),
      (error: Error & { code?: string }) => (outcomes[name] = `${error.code ?? 'no code'}: ${error.message}`),
    );
  };
  return { clock, sent, outcomes, add };
}

/** As the pipeline throws what AKS answers. */
function refusal(status: number, body: { readonly code: string; readonly message: string }, wrapped = false) {
  const request = createPipelineRequest({ url: 'https://azure.invalid' });
  const bodyAsText = JSON.stringify(wrapped ? { error: body } : body);
  const response = { status, headers: createHttpHeaders(), request, bodyAsText };
  return new RestError(body.message, { code: body.code, statusCode: status, request, response });
}

describe('batches', () => {
  it('hold what has one template, in whatever order its labels come', async () => {
    const { clock, sent, add } = rig();
    add('a', { labels: { x: '1', y: '2' }, zones: ['1'] });
    add('b', { labels: { y: '2', x: '1' }, zones: ['3'] });
    add('c', { vmSize: 'Standard_D4s_v3' });
    await clock.advance(1_000);
    expect(sent.map(({ names }) => names)).toEqual([['a', 'b'], ['c']]);
    expect(sent[0]?.template).toEqual({
      properties: {
        hardware: { vmSize: 'Standard_D2s_v3', ultraSsdEnabled: false },
        kubernetes: { nodeLabels: { x: '1', y: '2' } },
      },
    });
  });

  it('hold one zone where there are ultra disks', async () => {
    const { clock, sent, add } = rig();
    add('a', { ultraSsdEnabled: true, zones: ['1'] });
    add('b', { ultraSsdEnabled: true, zones: ['2'] });
    await clock.advance(1_000);
    expect(sent).toMatchObject([
      { names: ['a'], template: { zones: ['1'] } },
      { names: ['b'], template: { zones: ['2'] } },
    ]);
  });

  it('are sent when nothing more comes, and at the latest after a while', async () => {
    const { clock, sent, add } = rig();
    for (let at = 0; at < 6_300; at += 900) {
      add(`m-${at}`);
      await clock.advance(900);
    }
    await clock.advance(1_000);
    expect(sent.map(({ at, names }) => [at, names.length])).toEqual([
      [5_000, 6],
      [6_400, 1],
    ]);
  });

  it.each([
    [50, [50, 50, 20]],
    [80, [50, 50, 20]],
    [7, [...Array.from({ length: 17 }, () => 7), 1]],
  ])('never hold more than AKS takes, with a size of %i', async (size, expected) => {
    const { clock, sent, add } = rig(undefined, size);
    for (let index = 0; index < 120; index += 1) add(`m-${index}`);
    await clock.advance(1_000);
    expect(sent.map(({ names }) => names.length)).toEqual(expected);
  });

  it('are halved while their header is too large', async () => {
    const { clock, sent, outcomes, add } = rig((names) =>
      names.length > 2 ? new RestError('too large', { statusCode: 431 }) : undefined,
    );
    for (const name of ['a', 'b', 'c', 'd', 'e']) add(name);
    await clock.advance(1_000);
    expect(sent.map(({ names }) => names.join(''))).toEqual(['abcde', 'abc', 'de', 'ab', 'c']);
    expect(Object.values(outcomes)).toEqual(Array.from({ length: 5 }, () => 'accepted'));
  });
});

describe('what AKS says of a batch', () => {
  const one = { code: 'InvalidParameter', message: 'bad', target: 'a' };
  const two = { code: 'InternalOperationError', message: 'broken', target: 'b' };
  const client = (details: unknown) => ({ code: 'BatchMachineClientError', message: 'some failed', details });
  const internal = (text: string) => ({ code: 'BatchMachineInternalServerError', message: text });
  const all = (text: string) => ({ a: text, b: text, c: text });
  const others = { b: 'accepted', c: 'accepted' };

  it.each<[string, Error, Record<string, string>]>([
    ['names one', refusal(400, client([one])), { a: 'InvalidParameter: bad', ...others }],
    ['names one, wrapped', refusal(400, client([one]), true), { a: 'InvalidParameter: bad', ...others }],
    [
      'names two',
      refusal(400, client([one, two])),
      { a: 'InvalidParameter: bad', b: 'InternalOperationError: broken', c: 'accepted' },
    ],
    [
      'names one in its message',
      refusal(500, internal(JSON.stringify({ details: [two] }))),
      { a: 'accepted', b: 'InternalOperationError: broken', c: 'accepted' },
    ],
    ['has no readable message', refusal(500, internal('oops')), all('BatchMachineInternalServerError: oops')],
    ['names none', refusal(400, client([])), all('BatchMachineClientError: some failed')],
    ['has null for names', refusal(400, client(null)), all('BatchMachineClientError: some failed')],
    [
      'names a stranger',
      refusal(400, client([one, { ...one, target: 'z' }])),
      all('BatchMachineClientError: some failed'),
    ],
    [
      'leaves a name out',
      refusal(400, client([{ code: 'x', message: 'y' }])),
      all('BatchMachineClientError: some failed'),
    ],
    [
      'is about what they share',
      refusal(400, { code: 'VMSizeNotSupported', message: 'not for you' }),
      all('VMSizeNotSupported: not for you'),
    ],
    [
      'comes from ARM',
      refusal(404, { code: 'ResourceGroupNotFound', message: 'no group' }, true),
      all('ResourceGroupNotFound: no group'),
    ],
    ['is nothing', new Error('socket hang up'), all('no code: socket hang up')],
  ])('reaches the machines that it is about: %s', async (_name, error, expected) => {
    const { clock, outcomes, add } = rig(() => error);
    for (const name of ['a', 'b', 'c']) add(name);
    await clock.advance(1_000);
    expect(outcomes).toEqual(expected);
  });
});

it('writes the header in ASCII, whatever the tags say', () => {
  const entries = [{ machineName: 'a', zones: [], tags: { Büro: '東京 🚀 "x" \u007f' } }];
  const header = batchHeader(entries);
  expect(header).toMatch(/^[\x20-\x7e]+$/);
  expect(JSON.parse(header)).toEqual({ batchMachines: entries });
});
