/**
 * From a request to the operation that answers it. In: routes with `{name}` holes in their paths. Out: the route for a
 * method and a path, compared without regard to case, as ARM does.
 */
import type { Fault } from './faultPlan.ts';

export interface ArmRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: unknown;
  /** What the holes of the route's path were filled with. */
  readonly parameters: Readonly<Record<string, string>>;
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

export interface Route {
  /** Names the operation to the fault plan. */
  readonly name: string;
  readonly method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** Without a token and without api-version: the directory, the metadata service, the price list. */
  readonly open?: true;
  handle(request: ArmRequest): ArmResponse;
}

interface CompiledRoute {
  readonly route: Route;
  readonly pattern: RegExp;
  readonly holes: readonly string[];
}

export class Router {
  private readonly routes: readonly CompiledRoute[];

  constructor(routes: readonly Route[]) {
    this.routes = routes.map((route) => {
      const holes = [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');
      const source = route.path.replace(/[.$]/g, '\\$&').replace(/\{\w+\}/g, '([^/]+)');
      return { route, holes, pattern: new RegExp(`^${source}/?$`, 'i') };
    });
  }

  /** `undefined` when no route has this path; `allowed: false` when one has it with other methods only. */
  find(
    method: string,
    path: string,
  ): { readonly route: Route; readonly parameters: Readonly<Record<string, string>> } | 'methodNotAllowed' | undefined {
    let seen = false;
    for (const { route, pattern, holes } of this.routes) {
      const match = pattern.exec(path);
      if (match === null) continue;
      seen = true;
      if (route.method !== method) continue;
      const parameters = Object.fromEntries(
        holes.map((hole, index) => [hole, decodeURIComponent(match[index + 1] ?? '')]),
      );
      return { route, parameters };
    }
    return seen ? 'methodNotAllowed' : undefined;
  }
}
