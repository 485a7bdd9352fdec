import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { Kinds, type Node } from '../../api/kinds.ts';
import { SeededRandom } from '../../clock/seededRandom.ts';
import { SystemClock } from '../../clock/systemClock.ts';
import { HttpKube } from '../httpKube.ts';
import { Informers } from '../informer.ts';
import { silentLog } from '../log.ts';
import { patchObject } from '../statusPatch.ts';
import {
  answerJson,
  answerStatus,
  eventually,
  ScriptedServer,
  type Script,
} from '../../../test/fixtures/kube/scriptedServer.ts';
import type { Controller } from './controller.ts';
import { Manager, type ManagerOptions } from './manager.ts';
import { reconciler } from './reconciler.ts';
import { watch } from './watch.ts';

type Ports = Pick<ManagerOptions, 'kube' | 'clock' | 'random' | 'log'> & { readonly informers: Informers };

// docs: begin
const TEAM = 'example.com/team';

/** Gives every node without a team to the platform team. */
export function nodeTeamController({ kube, informers, ...ports }: Ports): Controller {
  const nodes = informers.of(Kinds.Node);
  return reconciler({
    ...ports,
    name: 'node.team',
    watches: [watch(nodes)],
    reconcile: async (name) => {
      const node = nodes.store.get({ name });
      if (node === undefined || node.metadata.labels?.[TEAM] !== undefined) return;
      const labels = { ...node.metadata.labels, [TEAM]: 'platform' };
      await patchObject(kube, Kinds.Node, node, { ...node, metadata: { ...node.metadata, labels } });
    },
  });
}
// docs: end

/** Nodes as an API server serves them: list, watch and merge patch of labels. */
class NodeServer {
  readonly nodes = new Map<string, Node>();
  private readonly watchers = new Set<ServerResponse>();
  private version = 1;

  readonly script: Script = ({ method, path, query, body }, response) => {
    if (method === 'PATCH') {
      const node = this.nodes.get(path.split('/').at(-1) ?? '');
      if (node === undefined) return answerStatus(response, 404, 'NotFound');
      const patch = JSON.parse(body) as Pick<Node, 'metadata'>;
      const labels = { ...node.metadata.labels, ...patch.metadata.labels };
      return answerJson(response, 200, this.put(node.metadata.name, labels));
    }
    if (query.get('watch') === null) {
      const items = [...this.nodes.values()];
      return answerJson(response, 200, { metadata: { resourceVersion: String(this.version) }, items });
    }
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    this.watchers.add(response);
  };

  put(name: string, labels: Record<string, string>): Node {
    const type = this.nodes.has(name) ? 'MODIFIED' : 'ADDED';
    const object: Node = { metadata: { name, labels, resourceVersion: String(++this.version) } };
    this.nodes.set(name, object);
    for (const watcher of this.watchers) watcher.write(`${JSON.stringify({ type, object })}\n`);
    return object;
  }

  get watched(): boolean {
    return this.watchers.size > 0;
  }

  teams(): Record<string, string | undefined> {
    return Object.fromEntries([...this.nodes].map(([name, { metadata }]) => [name, metadata.labels?.[TEAM]]));
  }
}

describe('the example of docs/adding-a-controller.md', () => {
  it('works on nodes that are there and on nodes that come', async () => {
    const world = new NodeServer();
    world.put('old', {});
    world.put('taken', { [TEAM]: 'search' });
    await using server = await ScriptedServer.start(world.script);
    const ports = { clock: new SystemClock(), random: new SeededRandom(1), log: silentLog };
    const config = { server: server.url, tls: { insecureSkipVerify: false }, credentials: {} };
    const kube = new HttpKube({ ...ports, config });
    const informers = new Informers({ ...ports, kube });
    const stop = new AbortController();

    const manager = new Manager({ ...ports, kube, informers }).add(nodeTeamController({ ...ports, kube, informers }));
    const ended = manager.run(stop.signal);
    await eventually(() => world.teams()['old'] === 'platform' && world.watched);
    world.put('new', {});
    await eventually(() => world.teams()['new'] === 'platform');
    stop.abort();
    await ended;
    await kube.close();

    expect(world.teams()).toEqual({ old: 'platform', taken: 'search', new: 'platform' });
    expect(server.requests.filter(({ method }) => method === 'PATCH').map(({ path }) => path)).toEqual([
      '/api/v1/nodes/old',
      '/api/v1/nodes/new',
    ]);
  });

  it('is what the page shows', async () => {
    const page = await readFile(new URL('../../../docs/adding-a-controller.md', import.meta.url), 'utf8');
    const code = await readFile(new URL(import.meta.url), 'utf8');
    const example = code.slice(code.indexOf('// docs: begin\n') + 15, code.indexOf('// docs: end\n'));
    expect(example).toContain('export function nodeTeamController');
    expect(page).toContain(`\`\`\`ts\n${example}\`\`\``);
  });
});
