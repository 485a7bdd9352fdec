/** All metrics declared by the loops, without a cluster: creates the loops but never runs them. */
import { Kinds } from '../../api/kinds.ts';
import { SeededRandom } from '../../clock/seededRandom.ts';
import { VirtualClock } from '../../clock/virtualClock.ts';
import { silentLog } from '../../kube/log.ts';
import { objectsKube } from '../../rehearsal/objectsKube.ts';
import { metricsDeclaredBy, type DeclaredMetric } from '../../server/monitoring/declaredMetric.ts';
import { OtlpTracer } from '../../server/otlpTracer.ts';
import { catalogueCloud } from './catalogueCloud.ts';
import { createEngine } from './engine.ts';

export function declaredMetrics(): readonly DeclaredMetric[] {
  return metricsDeclaredBy((metrics) => {
    const ports = { clock: new VirtualClock(0), random: new SeededRandom(1), log: silentLog, metrics };
    createEngine({
      ...ports,
      tracer: new OtlpTracer({ ...ports, endpoint: '', version: '' }),
      kube: objectsKube({ time: 0, kinds: new Map() }),
      cloud: catalogueCloud({ nodeClasses: [Kinds.AKSNodeClass], region: 'eastus' }),
      batchIdle: 1_000,
      batchMax: 10_000,
      gates: { capacityBuffer: true, staticCapacity: true, nodeRepair: true },
    });
  });
}
