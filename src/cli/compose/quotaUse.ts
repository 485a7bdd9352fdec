/** Usage of the compute quota in the subscription and region of a cluster's nodes. */
import { Kinds } from '../../api/kinds.ts';
import { Labels } from '../../api/labels.ts';
import { createAzureClients } from '../../azure/clients.ts';
import { SystemClock } from '../../clock/systemClock.ts';
import { systemRandom } from '../../clock/systemRandom.ts';
import { objectsOf, type ClusterObjects } from '../../rehearsal/clusterObjects.ts';
import { NodewrightError } from '../../errors/nodewrightError.ts';
import { messageOf } from '../../errors/thrown.ts';
import type { Surroundings } from '../../rehearsal/checkup.ts';
import type { QuotaUse } from '../../rehearsal/quotaFindings.ts';
import { azureOf } from './aks.ts';

const SUBSCRIPTION = /^azure:\/\/\/subscriptions\/([^/]+)\//;

/** Undefined when no node tells its region. A failure of Azure does not prevent the other checks; a wrong option does. */
export async function quotaUse(objects: ClusterObjects, stateDir: string | undefined): Promise<Surroundings['quota']> {
  const nodes = objectsOf(objects, Kinds.Node);
  const region = nodes.map(({ metadata }) => metadata.labels?.[Labels.region]).find((each) => each !== undefined);
  if (region === undefined) return undefined;
  const subscription = nodes
    .map(({ spec }) => SUBSCRIPTION.exec(spec?.providerID ?? '')?.[1])
    .find((each) => each !== undefined);
  try {
    return { region, uses: await usesOf(region, subscription, stateDir) };
  } catch (error) {
    if (error instanceof NodewrightError && error.code === 'NoLocalWorld') throw error;
    // What the Azure SDK tells of each way to sign in goes on for many lines.
    const [problem = ''] = messageOf(error).split('\n', 1);
    return { region, problem };
  }
}

async function usesOf(
  region: string,
  subscription: string | undefined,
  stateDir: string | undefined,
): Promise<readonly QuotaUse[]> {
  const cloud = await azureOf({ ...(stateDir && { stateDir }), ...(subscription && { subscription }) });
  const { compute } = createAzureClients({ ...cloud, clock: new SystemClock(), random: systemRandom });
  const uses = [];
  for await (const { name, currentValue, limit } of compute.usage.list(region)) {
    if (name?.value !== undefined) uses.push({ name: name.value, used: currentValue, limit });
  }
  return uses;
}
