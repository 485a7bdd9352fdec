/**
 * The load of a workload from the annotation `local.nodewright.dev/load`: steps `<since creation>=<cores>` with linear
 * interpolation (`0s=4, 10m=4, 15m=120`), or a daily cosine wave with its maximum at a time of day in UTC
 * (`daily(low=4, high=60, peak=20:00)`).
 */
import { Duration } from '../../units/duration.ts';

/** Usage of running pods in millicores and bytes. */
export interface Usage {
  readonly cpu: number;
  readonly memory: number;
}

export const NO_USAGE: Usage = { cpu: 0, memory: 0 };

export const addUsage = (left: Usage, right: Usage): Usage => ({
  cpu: left.cpu + right.cpu,
  memory: left.memory + right.memory,
});

export const LOAD = 'local.nodewright.dev/load';

const DAY = 86_400_000;

/** Returns the usage of a load, with a GiB of memory per core. */
export const loadUsage = (cores: number): Usage => ({ cpu: cores * 1000, memory: cores * 2 ** 30 });

/** Returns the cores that the whole workload uses at `now`; undefined for invalid text. */
export function loadAt(text: string, since: number, now: number): number | undefined {
  const daily = /^\s*daily\((.*)\)\s*$/.exec(text)?.[1];
  return daily === undefined ? alongSteps(text, now - since) : onDay(daily, now);
}

function onDay(text: string, now: number): number | undefined {
  const fields = new Map(text.split(',').map((part) => part.split('=').map((word) => word.trim()) as [string, string]));
  const [low, high] = [Number(fields.get('low')), Number(fields.get('high'))];
  const time = /^(\d{1,2}):(\d{2})$/.exec(fields.get('peak') ?? '');
  if (Number.isNaN(low) || Number.isNaN(high) || !time) return undefined;
  const peak = (Number(time[1]) * 60 + Number(time[2])) * 60_000;
  const phase = (((now - peak) % DAY) / DAY) * 2 * Math.PI;
  return low + ((high - low) * (1 + Math.cos(phase))) / 2;
}

function alongSteps(text: string, elapsed: number): number | undefined {
  const steps: [number, number][] = [];
  for (const part of text.split(',')) {
    const [at = '', cores = ''] = part.split('=').map((word) => word.trim());
    const time = Duration.tryParse(at)?.milliseconds;
    if (time === undefined || cores === '' || Number.isNaN(Number(cores))) return undefined;
    steps.push([time, Number(cores)]);
  }
  steps.sort(([left], [right]) => left - right);
  const after = steps.findIndex(([at]) => at > elapsed);
  if (after === -1) return steps.at(-1)?.[1];
  const [start, end] = [steps[after - 1], steps[after]];
  if (!end) return undefined;
  if (!start) return end[1];
  return start[1] + ((end[1] - start[1]) * (elapsed - start[0])) / (end[0] - start[0]);
}
