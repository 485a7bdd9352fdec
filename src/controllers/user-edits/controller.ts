/** Records user edits that change what happens to nodes, because no decision of ours explains them. */
import type { Node, Pod } from '../../api/kinds.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import type { NodePool } from '../../api/kinds/nodePool.ts';
import { nodePoolHash } from '../../api/nodePoolHash.ts';
import { Annotations, Labels } from '../../api/labels.ts';
import type { KubeObject } from '../../api/object.ts';
import type { InformerEvent } from '../../kube/informer.ts';
import { mergePatch } from '../../kube/mergePatch.ts';
import { poolDriftReason } from '../../disruption/poolDrift.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { podList } from '../../ledger/podList.ts';
import type { EditRecord } from '../../ledger/record.ts';
import { isTerminal } from '../../pods/podPredicates.ts';
import type { World } from '../world/world.ts';

/** Maximum depth of field paths. */
const DEPTH = 4;
const MOST_FIELDS = 10;

export function userEditsController(world: World): Controller {
  const { informers, ledger } = world;
  const record = (edits: readonly EditRecord[]): void => edits.forEach((edit) => void ledger.append(edit));
  return {
    name: 'user.edits',
    run: async (signal) => {
      const ends = [
        informers.nodePools.subscribe((event) => record(poolEdits(event, world))),
        informers.nodes.subscribe((event) => record(nodeEdits(event))),
        informers.pods.subscribe((event) => record(podEdits(event, world))),
        ...informers.nodeClasses.map(({ kind, informer }) =>
          informer.subscribe((event) => record(classEdits(event, kind.kind, world))),
        ),
      ];
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      for (const end of ends) end();
    },
  };
}

function poolEdits(event: InformerEvent<NodePool>, { cluster }: World): readonly EditRecord[] {
  if (event.type === 'added') return [];
  const { object: pool } = event;
  const { name } = pool.metadata;
  const object = { kind: 'NodePool', name };
  const own = [...cluster.claims()].filter(({ metadata }) => metadata.labels?.[Labels.nodePool] === name);
  if (event.type === 'deleted') return edit(object, [], 'deletion', own);
  const fields = changedFields(event.old.spec, pool.spec);
  if (fields.length === 0) return [];
  const stamps = { ...pool.metadata.annotations, [Annotations.nodePoolHash]: nodePoolHash(pool) };
  const judged = { ...pool, metadata: { ...pool.metadata, annotations: stamps } };
  const drifting = own.filter((claim) => poolDriftReason(claim, judged) !== undefined);
  const ofTemplate = fields.filter((field) => field.startsWith('spec.template'));
  return [
    ...edit(object, ofTemplate, 'drift', ofTemplate.length > 0 ? drifting : []),
    ...edit(object, fields, 'rules', fields.length > ofTemplate.length ? own : []),
  ];
}

function classEdits(event: InformerEvent<KubeObject>, kind: string, { cluster }: World): readonly EditRecord[] {
  if (event.type !== 'updated') return [];
  const { name } = event.object.metadata;
  const specOf = (each: KubeObject): object => (each as { spec?: object }).spec ?? {};
  const fields = changedFields(specOf(event.old), specOf(event.object));
  const own = [...cluster.claims()].filter(
    ({ spec }) => spec.nodeClassRef.kind === kind && spec.nodeClassRef.name === name,
  );
  return fields.length === 0 ? [] : edit({ kind, name }, fields, 'rules', own);
}

const PROTECTED = `metadata.annotations.${Annotations.doNotDisrupt}`;
const protection = ({ metadata }: KubeObject): string | undefined => metadata.annotations?.[Annotations.doNotDisrupt];

/** Only for a joined node: earlier changes come from its registration, not from users. */
function nodeEdits(event: InformerEvent<Node>): readonly EditRecord[] {
  if (event.type !== 'updated' || protection(event.old) === protection(event.object)) return [];
  const { name, labels = {} } = event.object.metadata;
  if (event.old.metadata.labels?.[Labels.registered] === undefined || labels[Labels.nodePool] === undefined) return [];
  const outcome = protection(event.object) === undefined ? 'released' : 'kept';
  return [{ kind: 'edit', object: { kind: 'Node', name }, fields: [PROTECTED], outcome, nodes: podList([name]) }];
}

function podEdits(event: InformerEvent<Pod>, { cluster }: World): readonly EditRecord[] {
  if (event.type !== 'updated' || protection(event.old) === protection(event.object)) return [];
  const { metadata, spec } = event.object;
  const node = cluster.node(spec?.nodeName ?? '');
  if (node?.metadata.labels?.[Labels.nodePool] === undefined || isTerminal(event.object)) return [];
  const outcome = protection(event.object) === undefined ? 'released' : 'kept';
  const object = { kind: 'Pod', namespace: metadata.namespace ?? 'default', name: metadata.name };
  return [{ kind: 'edit', object, fields: [PROTECTED], outcome, nodes: podList([node.metadata.name]) }];
}

/** Empty when no node is affected. */
function edit(
  object: EditRecord['object'],
  fields: readonly string[],
  outcome: EditRecord['outcome'],
  claims: readonly NodeClaim[],
): readonly EditRecord[] {
  if (claims.length === 0) return [];
  const nodes = podList(claims.map(({ metadata, status }) => status?.nodeName ?? metadata.name).sort());
  return [{ kind: 'edit', object, fields, outcome, nodes }];
}

/** For example `spec.template.metadata.labels.team`, sorted. */
function changedFields(before: object, after: object): readonly string[] {
  const paths = (patch: object, path: string, depth: number): readonly string[] =>
    Object.entries(patch).flatMap(([key, value]: [string, unknown]) => {
      const here = `${path}.${key}`;
      const isFields = typeof value === 'object' && value !== null && !Array.isArray(value);
      return isFields && depth < DEPTH ? paths(value, here, depth + 1) : [here];
    });
  return paths(mergePatch(before, after) ?? {}, 'spec', 1)
    .toSorted()
    .slice(0, MOST_FIELDS);
}
