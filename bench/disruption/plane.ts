/** Where a story runs: on a real control plane in real time, or on a simulated one with a virtual clock. */
import type { NodePool } from '../../src/api/kinds/nodePool.ts';
import type { Clock } from '../../src/clock/clock.ts';
import type { Random } from '../../src/clock/random.ts';
import type { Kube } from '../../src/kube/kube.ts';

export interface Plane {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  /** Starts the program. */
  run(): Promise<void>;
  /** Lets time pass until the condition holds; false when it does not within these milliseconds. */
  until(condition: () => boolean, within: number): Promise<boolean>;
  /** CPU seconds of the program; of everything on a simulated plane. */
  cpuSeconds(): Promise<number>;
  /** Lines of the program's log whose message contains `part`. */
  logged(part: string): readonly Readonly<Record<string, unknown>>[];
  stop(): Promise<void>;
}

export type StartPlane = () => Promise<Plane>;

const CLASS_REF = { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' };

/** The pool of a story: linux on amd64, up to eight cores a node. */
export function storyPool(
  disruption: Partial<NodePool['spec']['disruption']>,
  requirements: NonNullable<NodePool['spec']['template']['spec']['requirements']>,
): Pick<NodePool, 'metadata' | 'spec'> {
  return {
    metadata: { name: 'default' },
    spec: {
      disruption: {
        consolidateAfter: '0s',
        consolidationPolicy: 'WhenEmptyOrUnderutilized',
        budgets: [{ nodes: '100%' }],
        ...disruption,
      },
      template: {
        spec: {
          nodeClassRef: CLASS_REF,
          expireAfter: 'Never',
          requirements: [
            { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] },
            { key: 'kubernetes.io/os', operator: 'In', values: ['linux'] },
            { key: 'karpenter.kwok.sh/instance-cpu', operator: 'Lt', values: ['10'] },
            ...requirements,
          ],
        },
      },
    },
  };
}
