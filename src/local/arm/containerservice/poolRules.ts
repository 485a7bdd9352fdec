/** Validation of agent pools: number of nodes, pods per node, labels and taints. */
import { labelValueErrors, qualifiedNameErrors } from '../../../api/names.ts';
import { asText, at, listAt, objectAt, type JsonObject } from '../jsonPath.ts';
import { aksRefusal, invalidParameter } from './aksRefusal.ts';

const MOST_NODES = 1000;
const PODS: readonly [number, number] = [10, 250];

/** Throws for an invalid number of nodes or pods; absent members are not checked. */
export function checkPoolSize(pool: JsonObject, mode: string): void {
  // AKS runs its own pods on system pools, so they need a node.
  const least = mode === 'System' ? 1 : 0;
  const count = at(pool, 'count');
  if (count !== undefined && !isWithin(count, [least, MOST_NODES])) {
    throw aksRefusal('InvalidParameter.count', { count: JSON.stringify(count), least, most: MOST_NODES });
  }
  if (at(pool, 'enableAutoScaling') === true) checkBounds(at(pool, 'minCount'), at(pool, 'maxCount'), least);
  const pods = at(pool, 'maxPods');
  if (pods === undefined || isWithin(pods, PODS)) return;
  throw aksRefusal('InvalidParameter.maxPods', { pods: JSON.stringify(pods), range: PODS.join(' and ') });
}

const TAINT = /^([^=:]+)(?:=([^:]*))?:(NoSchedule|PreferNoSchedule|NoExecute)$/;

/** Throws for labels and taints that the API server refuses: a node with them could not join. */
export function checkMarks(pool: JsonObject): void {
  for (const [key, value] of Object.entries(objectAt(pool, 'nodeLabels'))) {
    refuseMark('nodeLabels', `${key}=${asText(value)}`, [
      ...qualifiedNameErrors(key),
      ...labelValueErrors(asText(value)),
    ]);
  }
  for (const taint of listAt(pool, 'nodeTaints').map(asText)) {
    const [, key, value = ''] = TAINT.exec(taint) ?? [];
    const form = 'must be key=value:effect, with the effect NoSchedule, PreferNoSchedule or NoExecute';
    refuseMark(
      'nodeTaints',
      taint,
      key === undefined ? [form] : [...qualifiedNameErrors(key), ...labelValueErrors(value)],
    );
  }
}

function refuseMark(member: string, mark: string, problems: readonly string[]): void {
  if (problems.length === 0) return;
  throw invalidParameter(`agentPoolProfile.${member}`, `'${mark}': ${problems.join('; ')}.`);
}

/** Throws for invalid bounds of the cluster autoscaler. */
function checkBounds(minCount: unknown, maxCount: unknown, least: number): void {
  if (!isWithin(minCount, [least, MOST_NODES])) {
    throw aksRefusal('InvalidParameter.bounds', { bound: 'minCount', least, most: MOST_NODES });
  }
  if (isWithin(maxCount, [Math.max(minCount, 1), MOST_NODES])) return;
  throw aksRefusal('InvalidParameter.bounds', { bound: 'maxCount', least: 'minCount', most: MOST_NODES });
}

function isWithin(value: unknown, [least, most]: readonly [number, number]): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
}
