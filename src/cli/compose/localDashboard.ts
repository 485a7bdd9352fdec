/** The dashboard of `up`: its address with a one-time token is in a file readable only by its owner. */
import { rmSync, writeFileSync } from 'node:fs';
import type { Clock } from '../../clock/clock.ts';
import type { LiveSource } from '../../dashboard/liveSource.ts';
import { startDashboard } from '../../dashboard/server.ts';
import type { Kube } from '../../kube/kube.ts';
import { startAnswerThread } from './answerThread.ts';
import { dashboardPage } from './dashboardPage.ts';

const OWNER_ONLY = 0o600;

export interface LocalDashboard {
  /** With a one-time token. */
  readonly address: string;
  stop(): Promise<void>;
}

/** A user who can read this file can also read the kubeconfig beside it, so the link gives no additional rights. */
export async function startLocalDashboard(
  source: LiveSource,
  file: string,
  { clock, kube }: { readonly clock: Clock; readonly kube: Kube },
): Promise<LocalDashboard> {
  let first = '';
  const endpoint = await startDashboard({
    source,
    port: 0,
    setting: 'nothing: any free port is taken',
    page: await dashboardPage(),
    startThread: startAnswerThread,
    visitorKube: () => ({
      get: (kind, ref) => kube.get(kind, ref),
      create: (kind, object) => kube.create(kind, object),
      patch: (kind, ref, patch) => kube.patch(kind, ref, patch),
    }),
    onAddress: (address) => {
      first ||= address;
      // Delete it first: an existing file would keep its mode.
      rmSync(file, { force: true });
      writeFileSync(file, `${address}\n`, { mode: OWNER_ONLY });
    },
    sleep: (milliseconds, signal) => clock.sleep(milliseconds, signal),
  });
  return {
    address: first,
    stop: async () => {
      source.close();
      await endpoint.stop();
    },
  };
}
