/**
 * Request scripts: steps as data, and what a server answered to each, ready to be compared. `NS` in paths and bodies
 * stands for the namespace that each script has to itself.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WireAnswer, World } from './worlds.ts';

export type Json = Record<string, unknown>;

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  /** Content type; JSON unless given. */
  readonly type?: string;
  readonly accept?: string;
  /** Asks again until the code is this one: for what happens a moment later. */
  readonly untilCode?: number;
  /** Asks again until the answer satisfies this. */
  readonly until?: (body: Json) => boolean;
  /** The answer only prepares what follows and is not compared. */
  readonly quiet?: boolean;
  /** Sent while this watch is open. */
  readonly during?: readonly Request[];
}

export interface Answer {
  readonly code: number;
  readonly contentType: string;
  readonly warnings: readonly string[];
  readonly retryAfter: string | undefined;
  /** Parsed when it is JSON; a list of events for a watch. */
  readonly body: unknown;
}

export type Step = Request | { readonly compact: true } | ((answers: readonly Answer[]) => Request);

export interface Script {
  readonly name: string;
  readonly steps: readonly Step[];
  /** Needs no namespace of its own. */
  readonly bare?: boolean;
}

export const script = (name: string, ...steps: Step[]): Script => ({ name, steps });
export const bare = (name: string, ...steps: Step[]): Script => ({ name, steps, bare: true });

export const get = (path: string, options: Partial<Request> = {}): Request => ({ method: 'GET', path, ...options });
export const post = (path: string, body: unknown, options: Partial<Request> = {}): Request => ({
  method: 'POST',
  path,
  body,
  ...options,
});
export const put = (path: string, body: unknown, options: Partial<Request> = {}): Request => ({
  method: 'PUT',
  path,
  body,
  ...options,
});
export const del = (path: string, body?: unknown, options: Partial<Request> = {}): Request => ({
  method: 'DELETE',
  path,
  ...(body === undefined ? {} : { body }),
  ...options,
});

const patchTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

export const patch = (
  kind: keyof typeof patchTypes,
  path: string,
  body: unknown,
  options: Partial<Request> = {},
): Request => ({ method: 'PATCH', path, body, type: patchTypes[kind], ...options });

/** A quiet step: sets the stage. */
export const given = (request: Request): Request => ({ ...request, quiet: true });

/** The metadata in an answer. */
export function metadataOf(answer: Answer | undefined): Json {
  const body = (answer?.body ?? {}) as Json;
  return (body['metadata'] ?? {}) as Json;
}

export const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

/** The same at both servers, and no other script's. */
export function namespaceFor(one: Script): string {
  return `parity-${createHash('sha256').update(one.name).digest('hex').slice(0, 8)}`;
}

const WAIT_MILLISECONDS = 60_000;

export async function play(world: World, one: Script, namespace: string): Promise<(Answer | undefined)[]> {
  if (one.bare !== true) await prepareNamespace(world, namespace);
  const answers: Answer[] = [];
  const shown: (Answer | undefined)[] = [];
  for (const step of one.steps) {
    if (typeof step === 'object' && 'compact' in step) {
      await world.compact();
      continue;
    }
    const request = typeof step === 'function' ? step(answers) : step;
    const answer = await ask(world, request, namespace);
    if (request.quiet === true && answer.code >= 400) {
      throw new Error(`${one.name}: the stage was not set: ${JSON.stringify(answer)}`);
    }
    answers.push(answer);
    shown.push(request.quiet === true ? undefined : answer);
  }
  return shown;
}

export async function prepareNamespace(world: World, name: string): Promise<void> {
  const created = await ask(world, post('/api/v1/namespaces', { metadata: { name } }), name);
  if (created.code !== 201) throw new Error(`namespace ${name}: ${JSON.stringify(created)}`);
  // Pods are refused until their account exists.
  await ask(world, get(`/api/v1/namespaces/${name}/serviceaccounts/default`, { untilCode: 200 }), name);
}

async function ask(world: World, request: Request, namespace: string): Promise<Answer> {
  const deadline = performance.now() + WAIT_MILLISECONDS;
  for (;;) {
    const answer = await once(world, request, namespace);
    const isThere =
      (request.untilCode === undefined || answer.code === request.untilCode) &&
      (request.until === undefined || request.until(answer.body as Json));
    if (isThere || performance.now() > deadline) return answer;
    await sleep(100);
  }
}

async function once(world: World, request: Request, namespace: string): Promise<Answer> {
  const inNamespace = (text: string): string => text.replaceAll(/\bNS\b/g, namespace);
  const { body } = request;
  const answering = world.send({
    method: request.method,
    path: inNamespace(request.path),
    headers: {
      'user-agent': 'parity/1.0',
      accept: request.accept ?? 'application/json',
      ...(body === undefined ? {} : { 'content-type': request.type ?? 'application/json' }),
    },
    body: body === undefined ? undefined : inNamespace(typeof body === 'string' ? body : JSON.stringify(body)),
  });
  if (request.during !== undefined) {
    // Give the watch time to begin; what is written before it starts would be missed by both servers alike.
    await sleep(300);
    for (const one of request.during) await once(world, one, namespace);
  }
  return parsed(await answering, /[?&]watch=(true|1)\b/.test(request.path));
}

function parsed(answer: WireAnswer, isWatch: boolean): Answer {
  const { text, ...rest } = answer;
  if (!answer.contentType.startsWith('application/json') && !/^application\/(.*\+)?json/.test(answer.contentType)) {
    return { ...rest, body: text };
  }
  const lines = text.split('\n').filter((line) => line !== '');
  if (isWatch && answer.code === 200) return { ...rest, body: lines.map((line) => JSON.parse(line) as unknown) };
  return { ...rest, body: JSON.parse(text) as unknown };
}
