/** The pods of a run: 1,000 of forty workloads, with sizes as lognormal as real ones, always the same. */
import type { PodSpec } from 'kubernetes-types/core/v1.js';
import type { Pod } from '../../src/api/kinds.ts';
import { Labels } from '../../src/api/labels.ts';
import { SeededRandom } from '../../src/clock/seededRandom.ts';

/** What makes a run harder. */
export const VARIANTS = ['plain', 'joins', 'arrivals', 'priorities', 'spread', 'anti-affinity'] as const;
export type Variant = (typeof VARIANTS)[number];

export interface Workload {
  readonly name: string;
  readonly replicas: number;
  readonly spec: Partial<PodSpec>;
  /** Comes while the first nodes boot. */
  readonly isLate: boolean;
}

const WORKLOADS = 40;
const PODS = 1_000;
const PRIORITIES = ['bench-low', 'bench-middle', 'bench-high'];
export const PRIORITY_CLASSES = PRIORITIES.map((name, at) => ({ metadata: { name }, value: 100 * (at + 1) }));

export function workloadsOf(variant: Variant, pods = PODS): readonly Workload[] {
  const random = new SeededRandom('placement');
  const each = Math.floor(pods / WORKLOADS);
  return Array.from({ length: WORKLOADS }, (_, index) => {
    const name = `w${index}`;
    const cpu = `${Math.max(50, Math.round(500 * Math.exp(normal(random))))}m`;
    const memory = `${Math.max(64, Math.round(1024 * Math.exp(normal(random))))}Mi`;
    const containers = [{ name: 'main', image: 'app', resources: { requests: { cpu, memory } } }];
    const spec = { containers, terminationGracePeriodSeconds: 1, ...extraOf(variant, name, index) };
    return { name, replicas: each, spec, isLate: variant === 'arrivals' && index % 2 === 1 };
  });
}

/** The pods as a bound needs them. */
export function podsOf(workloads: readonly Workload[]): readonly Pod[] {
  return workloads.flatMap(({ name, replicas, spec }) =>
    Array.from({ length: replicas }, (_, at): Pod => ({
      metadata: { name: `${name}-${at}`, namespace: 'default' },
      spec: { containers: [], ...spec },
    })),
  );
}

function extraOf(variant: Variant, app: string, index: number): Partial<PodSpec> {
  const labelSelector = { matchLabels: { app } };
  if (variant === 'priorities') return { priorityClassName: PRIORITIES[index % PRIORITIES.length] ?? '' };
  if (variant === 'spread' && index % 2 === 0) {
    const constraint = { maxSkew: 1, topologyKey: Labels.zone, whenUnsatisfiable: 'DoNotSchedule', labelSelector };
    return { topologySpreadConstraints: [constraint] };
  }
  if (variant === 'anti-affinity' && index % 4 === 0) {
    const terms = [{ topologyKey: Labels.hostname, labelSelector }];
    return { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } } };
  }
  return {};
}

/** Box and Muller's. */
function normal(random: SeededRandom): number {
  return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
}
