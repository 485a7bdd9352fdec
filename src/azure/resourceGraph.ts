/** Queries to Azure Resource Graph. */
import { NodewrightError } from '../errors/nodewrightError.ts';
import type { ArmRest } from './armRest.ts';

/** A resource as stored by ARM, not flattened as by the SDK. */
export interface GraphRow {
  readonly id?: string;
  readonly name?: string;
  readonly location?: string;
  readonly tags?: Readonly<Record<string, string>> | null;
  readonly zones?: readonly string[] | null;
  readonly properties?: unknown;
}

interface GraphPage {
  readonly data?: readonly GraphRow[];
  readonly $skipToken?: string;
}

const API_VERSION = '2022-10-01';
const MAX_PAGES = 200;

/** All rows of a query, page after page. */
export async function queryGraph(
  rest: ArmRest,
  subscriptionId: string,
  query: string,
  signal?: AbortSignal,
): Promise<readonly GraphRow[]> {
  const rows: GraphRow[] = [];
  let skipToken: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const options = { resultFormat: 'objectArray', $top: 1000, ...(skipToken && { $skipToken: skipToken }) };
    const body = await rest.send<GraphPage>(
      {
        method: 'POST',
        path: '/providers/Microsoft.ResourceGraph/resources',
        apiVersion: API_VERSION,
        body: { subscriptions: [subscriptionId], query, options },
      },
      signal,
    );
    rows.push(...(body.data ?? []));
    skipToken = body.$skipToken;
    if (skipToken === undefined || skipToken === '') return rows;
  }
  throw new NodewrightError('AzureAnswerUnusable', {
    source: 'Resource Graph',
    problem: `more than ${MAX_PAGES} pages`,
  });
}
