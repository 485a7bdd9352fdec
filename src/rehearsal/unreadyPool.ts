/** A NodePool that is not ready, and possible fixes: usually another node class, or creating the one it names. */
import { NodePoolConditions, READY } from '../api/conditionTypes.ts';
import { findCondition } from '../api/conditions.ts';
import { Kinds } from '../api/kinds.ts';
import type { NodePool } from '../api/kinds/nodePool.ts';
import type { KubeObject, ResourceKind } from '../api/object.ts';
import type { ExplainedFix, ObjectName } from '../ledger/explanation.ts';
import type { Finding } from '../ledger/finding.ts';
import { objectsOf, type ClusterObjects } from './clusterObjects.ts';
import { adviceOf, findingOf, fixOf } from './findingOf.ts';

const CLASSES: readonly ResourceKind<KubeObject>[] = [Kinds.AKSNodeClass, Kinds.KWOKNodeClass];

/** Undefined when it is ready. */
export function unreadyPool(objects: ClusterObjects, pool: NodePool, object: ObjectName): Finding | undefined {
  const ready = findCondition(pool, READY);
  if (ready?.status === 'True') return undefined;
  const trap = { check: 'pool-not-ready', reason: ready?.reason, message: ready?.message } as const;
  return findingOf('error', object, trap, fixesOf(objects, pool, object));
}

function fixesOf(objects: ClusterObjects, pool: NodePool, object: ObjectName): readonly ExplainedFix[] {
  const { group, kind, name } = pool.spec.template.spec.nodeClassRef;
  const ofKind = CLASSES.find((each) => each.group === group && each.kind === kind);
  if (ofKind === undefined || findCondition(pool, NodePoolConditions.nodeClassReady)?.status === 'True') {
    return [adviceOf({ kind: 'look-at-pool', pool: object.name })];
  }
  const all = objectsOf(objects, ofKind);
  const nodeClass = `${kind} "${name}"`;
  const isThere = all.some(({ metadata }) => metadata.name === name);
  const others = all.filter((each) => each.metadata.name !== name && isReady(each));
  return [
    ...others.slice(0, 1).map(({ metadata }) =>
      fixOf({ kind: 'use-class', nodeClass: `${kind} "${metadata.name}"` }, object, {
        spec: { template: { spec: { nodeClassRef: { name: metadata.name } } } },
      }),
    ),
    adviceOf({ kind: isThere ? 'repair-class' : 'create-class', nodeClass }),
  ];
}

const isReady = ({ metadata, status }: KubeObject & { readonly status?: unknown }): boolean =>
  metadata.deletionTimestamp === undefined &&
  ((status as { conditions?: readonly { type: string; status: string }[] } | undefined)?.conditions ?? []).some(
    (each) => each.type === READY && each.status === 'True',
  );
