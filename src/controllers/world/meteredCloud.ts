import type { Clock } from '../../clock/clock.ts';
import type { CloudProvider } from '../../cloud/cloudProvider.ts';
import { InstanceNotFoundError, InsufficientCapacityError, NodeClassNotReadyError } from '../../cloud/errors.ts';
import type { MetricsRegistry } from '../../kube/metrics.ts';

export interface CloudMetering {
  readonly metrics: MetricsRegistry;
  readonly clock: Clock;
  /** The calling controller. */
  readonly controller: string;
}

/** Wraps the provider: measures every call and counts failures, under Karpenter's metric names. */
export function meteredCloud(cloud: CloudProvider, { metrics, clock, controller }: CloudMetering): CloudProvider {
  const duration = metrics.histogram({
    name: 'karpenter_cloudprovider_duration_seconds',
    help: 'Duration of cloud provider calls in seconds.',
    labels: ['controller', 'method', 'provider'],
  });
  const errors = metrics.counter({
    name: 'karpenter_cloudprovider_errors_total',
    help: 'Failed cloud provider calls, by error.',
    labels: ['controller', 'method', 'provider', 'error'],
  });
  async function metered<T>(method: string, call: () => Promise<T>): Promise<T> {
    const labels = { controller, method, provider: cloud.name };
    const start = clock.monotonic();
    try {
      return await call();
    } catch (error) {
      errors.inc({ ...labels, error: errorLabel(error) });
      throw error;
    } finally {
      duration.observe(labels, (clock.monotonic() - start) / 1000);
    }
  }
  return {
    name: cloud.name,
    nodeClasses: cloud.nodeClasses,
    repairPolicies: cloud.repairPolicies,
    quotas: (unlaunched) => cloud.quotas?.(unlaunched) ?? new Map(),
    create: (...request) => metered('Create', () => cloud.create(...request)),
    delete: (...request) => metered('Delete', () => cloud.delete(...request)),
    get: (...request) => metered('Get', () => cloud.get(...request)),
    list: (...request) => metered('List', () => cloud.list(...request)),
    instanceTypes: (...request) => metered('GetInstanceTypes', () => cloud.instanceTypes(...request)),
    driftReason: (...request) => metered('IsDrifted', () => cloud.driftReason(...request)),
  };
}

function errorLabel(error: unknown): string {
  if (error instanceof InsufficientCapacityError) return 'InsufficientCapacityError';
  if (error instanceof InstanceNotFoundError) return 'NodeClaimNotFoundError';
  return error instanceof NodeClassNotReadyError ? 'NodeClassNotReadyError' : '';
}
