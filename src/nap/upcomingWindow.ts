/** Tells the controller when node images may change, through the ConfigMap that AKS keeps in its namespace. */
import { Kinds } from '../api/kinds.ts';
import { ignoreNotFound } from '../kube/errors.ts';
import type { Kube } from '../kube/kube.ts';
import { upcomingWindow, type MaintenanceWindow } from './maintenanceSchedule.ts';

const REF = { namespace: 'kube-system', name: 'upcoming-maintenance-window' };
const FIELD_MANAGER = 'nodewright';
/** A window in the past: nodes of a schedule without any window are not changed. */
const NEVER = new Date(0).toISOString();

/** Without a schedule there is no ConfigMap, and images change at any time. */
export async function publishWindow(kube: Kube, window: MaintenanceWindow | undefined, now: number): Promise<void> {
  if (window === undefined) {
    await ignoreNotFound(kube.delete(Kinds.ConfigMap, REF));
    return;
  }
  const span = upcomingWindow(window, now);
  const data = {
    'aksManagedNodeOSUpgradeSchedule-start': span === undefined ? NEVER : new Date(span.start).toISOString(),
    'aksManagedNodeOSUpgradeSchedule-end': span === undefined ? NEVER : new Date(span.end).toISOString(),
  };
  const found = await ignoreNotFound(kube.get(Kinds.ConfigMap, REF));
  if (found !== undefined && Object.entries(data).every(([key, value]) => found.data?.[key] === value)) return;
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: REF, data };
  await kube.patch(Kinds.ConfigMap, REF, { type: 'apply', body }, { fieldManager: FIELD_MANAGER, force: true });
}
