/** The dashboard of `run`: tokens of the cluster open it, for those who may list what it shows. */
import type { Clock } from '../../clock/clock.ts';
import { clusterTokenReview } from '../../dashboard/clusterTokens.ts';
import type { LiveSource } from '../../dashboard/liveSource.ts';
import { startDashboard } from '../../dashboard/server.ts';
import type { Kube } from '../../kube/kube.ts';
import type { HttpEndpoint } from '../../server/httpEndpoint.ts';
import { dashboardPage } from './dashboardPage.ts';

export async function startClusterDashboard(
  source: LiveSource,
  port: number,
  { kube, clock }: { readonly kube: Pick<Kube, 'create'>; readonly clock: Clock },
): Promise<HttpEndpoint> {
  const endpoint = await startDashboard({
    source,
    port,
    setting: '--dashboard-port or DASHBOARD_PORT',
    page: await dashboardPage(),
    reviewToken: clusterTokenReview(kube),
    sleep: (milliseconds, signal) => clock.sleep(milliseconds, signal),
  });
  return {
    port: endpoint.port,
    stop: async () => {
      source.close();
      await endpoint.stop();
    },
  };
}
