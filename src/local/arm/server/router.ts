/** Finds the route of a method and a path, without regard to case; literal segments win over `{placeholders}`. */
import { InvariantError } from '../../../errors/invariantError.ts';
import type { Fault } from '../faultPlan.ts';
import type { Principal } from '../directory/principals.ts';

export interface ArmRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: unknown;
  /** Values of the placeholders in the route's path. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The caller; undefined for open routes. */
  readonly principal?: Principal;
  /** Fault with which a long-running operation of this request ends. */
  readonly lateFault: Extract<Fault, { kind: 'failLate' }> | undefined;
  /** Milliseconds that a long-running operation takes beyond its usual time. */
  readonly extraTime?: number;
}

export interface ArmResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

type Method = 'GET' | 'HEAD' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';

export interface Route {
  /** Name of the operation in the fault plan. */
  readonly name: string;
  readonly method: Method;
  readonly path: string;
  /** Needs no token and no api-version, as the directory, the metadata service and the price list. */
  readonly open?: true;
  handle(request: ArmRequest): ArmResponse;
  /** Throws when the provider would refuse the request; ARM calls it before it deploys a template. */
  readonly preflight?: ((request: ArmRequest) => void) | undefined;
}

/** Returns status 200 with a body. */
export function ok(body: unknown): ArmResponse {
  return { status: 200, body };
}

export function route(name: string, method: Method, path: string, handle: Route['handle']): Route {
  return { name, method, path, handle };
}

/** A route that needs neither token nor api-version. */
export function openRoute(name: string, method: Method, path: string, handle: Route['handle']): Route {
  return { ...route(name, method, path, handle), open: true };
}

interface Step {
  readonly words: Map<string, Step>;
  placeholder: Step | undefined;
  readonly routes: Map<string, { readonly route: Route; readonly placeholders: readonly string[] }>;
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

  /** Returns undefined when no route has this path, `methodNotAllowed` when one has it with other methods only. */
  find(method: string, path: string): Found | 'methodNotAllowed' | undefined {
    const segments = path.split('/').filter((segment) => segment !== '');
    let seen = false;
    for (const [step, values] of walk(this.root, segments, 0, [])) {
      const entry = step.routes.get(method) ?? (method === 'HEAD' ? step.routes.get('GET') : undefined);
      if (entry === undefined) {
        seen ||= step.routes.size > 0;
        continue;
      }
      const { route, placeholders } = entry;
      return {
        route,
        parameters: Object.fromEntries(placeholders.map((placeholder, index) => [placeholder, values[index] ?? ''])),
      };
    }
    return seen ? 'methodNotAllowed' : undefined;
  }

  private add(route: Route): void {
    const placeholders: string[] = [];
    let step = this.root;
    for (const segment of route.path.split('/').filter((each) => each !== '')) {
      const placeholder = /^\{(\w+)\}$/.exec(segment)?.[1];
      if (placeholder === undefined) {
        const word = segment.toLowerCase();
        const next = step.words.get(word) ?? newStep();
        step.words.set(word, next);
        step = next;
      } else {
        placeholders.push(placeholder);
        step.placeholder ??= newStep();
        step = step.placeholder;
      }
    }
    if (step.routes.has(route.method)) throw new InvariantError(`Two routes for ${route.method} ${route.path}.`);
    step.routes.set(route.method, { route, placeholders });
  }
}

function newStep(): Step {
  return { words: new Map(), placeholder: undefined, routes: new Map() };
}

/** Yields the steps that match the whole path, literal segments first, with the values of the placeholders. */
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
  const value = step.placeholder && decoded(segment);
  if (step.placeholder === undefined || value === undefined) return;
  yield* walk(step.placeholder, segments, index + 1, [...values, value]);
}

/** Returns undefined for a malformed escape, such as a template may have in the name of a resource. */
function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
