/** When node images of a managed cluster without a maintenance window may change. */
import { createHash } from 'node:crypto';
import { DAYS, type MaintenanceWindow } from './maintenanceSchedule.ts';

/** Weekly. The day depends on the cluster's name, so that not all clusters change at once. */
export function fallbackWindow(cluster: string): MaintenanceWindow {
  const [byte = 0] = createHash('sha256').update(cluster.toLowerCase()).digest();
  const dayOfWeek = DAYS[byte % DAYS.length] ?? 'Sunday';
  return { schedule: { weekly: { intervalWeeks: 1, dayOfWeek } }, durationHours: 8, startTime: '00:00' };
}
