/** One kind in one state, as a table. */
import { get, given, patch, post, script, TABLE, type Json, type Request, type Script } from '../script.ts';

/** Creates, optionally sets a status, and lists as a table. */
export const table = (name: string, path: string, body: Json, status?: Json): Script => {
  const named = `${path}/${String((body['metadata'] as Json)['name'])}`;
  const steps: Request[] = [given(post(path, body))];
  if (status !== undefined) steps.push(given(patch('merge', `${named}/status`, { status })));
  return script(`table of ${name}`, ...steps, get(named, { accept: TABLE }));
};
