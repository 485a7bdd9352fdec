/**
 * Whether nodes may move to new images now. AKS writes the next maintenance window into a ConfigMap beside the
 * controller; without one there is no restriction.
 */
import { Kinds } from '../api/kinds.ts';
import { NodewrightError } from '../errors/nodewrightError.ts';
import { isNotFound } from '../kube/errors.ts';
import type { Kube } from '../kube/kube.ts';

const CONFIG_MAP = 'upcoming-maintenance-window';
const START = 'aksManagedNodeOSUpgradeSchedule-start';
const END = 'aksManagedNodeOSUpgradeSchedule-end';
const RFC_3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;

/** `namespace` is that of this process; empty: it has none. Throws when the window cannot be read. */
export async function isMaintenanceWindowOpen(
  kube: Kube,
  namespace: string,
  now: number,
  signal?: AbortSignal,
): Promise<boolean> {
  if (namespace === '') return true;
  let data: Readonly<Record<string, string>>;
  try {
    const found = await kube.get(
      Kinds.ConfigMap,
      { namespace, name: CONFIG_MAP },
      signal === undefined ? {} : { signal },
    );
    data = found.data ?? {};
  } catch (error) {
    if (isNotFound(error)) return true;
    throw error;
  }
  const [start, end] = [data[START] ?? '', data[END] ?? ''];
  if (start === '' && end === '') return true;
  const [opens, closes] = [timeOf(namespace, START, start), timeOf(namespace, END, end)];
  return opens < now && now < closes;
}

function timeOf(namespace: string, key: string, text: string): number {
  if (RFC_3339.test(text) && !Number.isNaN(Date.parse(text))) return Date.parse(text);
  throw new NodewrightError('MaintenanceWindowUnreadable', { configMap: `${namespace}/${CONFIG_MAP}`, key, text });
}
