/** Finds the route of a method and a path, without regard to case; words win over `{holes}`. */
import { InvariantError } from '../../../errors/invariantError.ts';
import type { Fault } from '../faultPlan.ts';
import type { Principal } from '../directory/principals.ts';

export interface ArmRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: unknown;
  /** Values of the holes in the route's path. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The caller; undefined for open routes. */
  readonly principal?: Principal;
  /** A long-running operation that this request begins must end with it. */
  readonly lateFault: Extract<Fault, { kind: 'failLate' }> | undefined;
  /** Milliseconds that such an operation takes beyond its usual time. */
  readonly extraTime?: number;
}

export interface ArmResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

type Method = 'GET' | 'HEAD' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';

export interface Route {
  /** Names the operation to the fault plan. */
  readonly name: string;
  readonly method: Method;
  readonly path: string;
  /** Without a token and without api-version: the directory, the metadata service, the price list. */
  readonly open?: true;
  handle(request: ArmRequest): ArmResponse;
  /** What the provider would refuse, before anything is made: ARM asks for it before it deploys a template. */
  readonly preflight?: ((request: ArmRequest) => void) | undefined;
}

/** 200, with a body. */
export function ok(body: unknown): ArmResponse {
  return { status: 200, body };
}

/** A row of a route table. */
export function route(name: string, method: Method, path: string, handle: Route['handle']): Route {
  return { name, method, path, handle };
}

/** A route that needs neither token nor api-version. */
export function openRoute(name: string, method: Method, path: string, handle: Route['handle']): Route {
  return { ...route(name, method, path, handle), open: true };
}

interface Step {
  readonly words: Map<string, Step>;
  hole: Step | undefined;
  readonly routes: Map<string, { readonly route: Route; readonly holes: readonly string[] }>;
}

export interface Found {
  readonly route: Route;
  readonly parameters: Readonly<Record<string, string>>;
}

export class Router {
  private readonly root = newStep();

  constructor(routes: readonly Route[]) {
    for (const route of routes) this.add(route);
  }

  /** `undefined` when no route has this path; `methodNotAllowed` when one has it with other methods only. */
  find(method: string, path: string): Found | 'methodNotAllowed' | undefined {
    const segments = path.split('/').filter((segment) => segment !== '');
    let seen = false;
    for (const [step, values] of walk(this.root, segments, 0, [])) {
      const entry = step.routes.get(method) ?? (method === 'HEAD' ? step.routes.get('GET') : undefined);
      if (entry === undefined) {
        seen ||= step.routes.size > 0;
        continue;
      }
      const { route, holes } = entry;
      return { route, parameters: Object.fromEntries(holes.map((hole, index) => [hole, values[index] ?? ''])) };
    }
    return seen ? 'methodNotAllowed' : undefined;
  }

  private add(route: Route): void {
    const holes: string[] = [];
    let step = this.root;
    for (const segment of route.path.split('/').filter((each) => each !== '')) {
      const hole = /^\{(\w+)\}$/.exec(segment)?.[1];
      if (hole === undefined) {
        const word = segment.toLowerCase();
        const next = step.words.get(word) ?? newStep();
        step.words.set(word, next);
        step = next;
      } else {
        holes.push(hole);
        step.hole ??= newStep();
        step = step.hole;
      }
    }
    if (step.routes.has(route.method)) throw new InvariantError(`Two routes for ${route.method} ${route.path}.`);
    step.routes.set(route.method, { route, holes });
  }
}

function newStep(): Step {
  return { words: new Map(), hole: undefined, routes: new Map() };
}

/** Every end of the path in the tree, words first, with what the holes took. */
function* walk(
  step: Step,
  segments: readonly string[],
  index: number,
  values: readonly string[],
): Generator<readonly [Step, readonly string[]]> {
  const segment = segments[index];
  if (segment === undefined) {
    yield [step, values];
    return;
  }
  const word = step.words.get(segment.toLowerCase());
  if (word !== undefined) yield* walk(word, segments, index + 1, values);
  if (step.hole !== undefined) yield* walk(step.hole, segments, index + 1, [...values, decodeURIComponent(segment)]);
}
