/**
 * Whether nodes may switch to new images now. AKS writes the next maintenance window into a ConfigMap in the
 * controller's namespace; without one there is no restriction.
 */
import type { ConfigMap } from '../api/kinds.ts';
import { NodewrightError } from '../errors/nodewrightError.ts';

/** Name of that ConfigMap. */
export const MAINTENANCE_WINDOW = 'upcoming-maintenance-window';
const START = 'aksManagedNodeOSUpgradeSchedule-start';
const END = 'aksManagedNodeOSUpgradeSchedule-end';
const RFC_3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;

/** Throws when the window is malformed. */
export function isMaintenanceWindowOpen(configMap: ConfigMap | undefined, now: number): boolean {
  const { [START]: start = '', [END]: end = '' } = configMap?.data ?? {};
  if (configMap === undefined || (start === '' && end === '')) return true;
  const [opens, closes] = [timeOf(configMap, START, start), timeOf(configMap, END, end)];
  return opens < now && now < closes;
}

function timeOf({ metadata: { namespace = '', name } }: ConfigMap, key: string, text: string): number {
  if (RFC_3339.test(text) && !Number.isNaN(Date.parse(text))) return Date.parse(text);
  throw new NodewrightError('MaintenanceWindowUnreadable', { configMap: `${namespace}/${name}`, key, text });
}
