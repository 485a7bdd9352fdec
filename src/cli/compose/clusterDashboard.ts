/**
 * The dashboard of `run`: tokens of the cluster give access to accounts that may list what it shows. Changes that a
 * visitor applies are sent with the visitor's own token.
 */
import type { Clock } from '../../clock/clock.ts';
import { systemRandom } from '../../clock/systemRandom.ts';
import { clusterTokenReview, SHOWN_BY_DASHBOARD } from '../../server/clusterTokens.ts';
import type { LiveSource } from '../../dashboard/liveSource.ts';
import { startDashboard } from '../../dashboard/server.ts';
import type { ClusterConfig } from '../../kube/clusterConfig.ts';
import { HttpKube } from '../../kube/httpKube.ts';
import type { Kube } from '../../kube/kube.ts';
import type { HttpEndpoint } from '../../server/httpEndpoint.ts';
import { startAnswerThread } from './answerThread.ts';
import { dashboardPage } from './dashboardPage.ts';

export async function startClusterDashboard(
  source: LiveSource,
  port: number,
  {
    kube,
    clock,
    config,
  }: { readonly kube: Pick<Kube, 'create'>; readonly clock: Clock; readonly config: ClusterConfig },
): Promise<HttpEndpoint> {
  const endpoint = await startDashboard({
    source,
    port,
    setting: '--dashboard-port or DASHBOARD_PORT',
    page: await dashboardPage(),
    startThread: startAnswerThread,
    reviewToken: clusterTokenReview(kube, SHOWN_BY_DASHBOARD),
    visitorKube: (token) => {
      if (token === undefined) return undefined;
      const { impersonate: _, ...reach } = config;
      const credentials = { token: { value: token } };
      return new HttpKube({ config: { ...reach, credentials }, clock, random: systemRandom });
    },
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
