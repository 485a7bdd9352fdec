/** Composition root of `nodewright kubelet-sim`: the local world's kubelets for the Nodes of a real cluster. */
import { Kinds } from '../../api/kinds.ts';
import { SystemClock } from '../../clock/systemClock.ts';
import { systemRandom } from '../../clock/systemRandom.ts';
import { HttpKube } from '../../kube/httpKube.ts';
import { defaultClusterConfig } from '../../kube/inCluster.ts';
import { loadKubeconfig } from '../../kube/kubeconfig.ts';
import { Informers } from '../../kube/informer.ts';
import { Manager } from '../../kube/runtime/manager.ts';
import { keepAll } from '../../kube/trim.ts';
import { Kubelets } from '../../local/kubelet/kubelets.ts';
import type { InstancePace } from '../../local/kubelet/instance.ts';
import { createJsonLog } from '../../server/jsonLog.ts';
import { openLogSink } from '../../server/logSink.ts';
import { buildInfo } from '../buildInfo.ts';

export interface KubeletSimOptions {
  readonly kubeconfig?: string;
  readonly selector: string;
  readonly pace: InstancePace;
}

export async function runKubeletSim(options: KubeletSimOptions, signal: AbortSignal): Promise<void> {
  const clock = new SystemClock();
  const random = systemRandom;
  const sink = openLogSink(['stdout']);
  const { commit } = buildInfo();
  const log = createJsonLog({ level: 'info', sink, failureSink: sink, clock, commit, secrets: [] });
  const config = options.kubeconfig ? await loadKubeconfig({ path: options.kubeconfig }) : await defaultClusterConfig();
  const kube = new HttpKube({ config, clock, random, userAgent: 'nodewright-kubelet-sim' });
  const informers = new Informers({
    kube,
    clock,
    random,
    onError: (error, kind) => log.error('watch interrupted; trying again', { kind: kind.kind, error }),
  });
  const indexes = {
    'spec.nodeName': ({ spec }: { spec?: { nodeName?: string } }) => (spec?.nodeName ? [spec.nodeName] : []),
  };
  const pods = informers.of(Kinds.Pod, { indexes, transform: keepAll });
  const nodes = informers.of(Kinds.Node, { labelSelector: options.selector });
  const kubelets = new Kubelets({ kube, clock, random, log, pods, pace: options.pace });
  const manager = new Manager({ kube, clock, random, log, informers });
  for (const controller of kubelets.controllers()) manager.add(controller);
  nodes.subscribe(({ type, object }) => {
    if (type === 'deleted') kubelets.powerOff(object.metadata.name);
    else kubelets.adopt(object.metadata.name);
  });
  log.info('simulating kubelets', { selector: options.selector });
  try {
    await manager.run(signal);
  } finally {
    await kube.close();
    sink.close();
  }
}
