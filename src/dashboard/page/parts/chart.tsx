/** A line chart over time. The chart library is loaded when the first one is shown. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';

interface Series {
  readonly name: string;
  /** A custom property of page.css. */
  readonly colour: string;
  readonly values: readonly number[];
  readonly fill?: boolean;
  readonly step?: boolean;
}

interface ChartProps {
  readonly label: string;
  /** Milliseconds since 1970. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
  readonly height?: number;
}

/** Seconds between two labels of the time axis: whole minutes, so that no two labels are equal. */
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 360, 720, 1440].map((minutes) => minutes * 60);

type Plot = typeof uPlot;

const colourOf = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const darkness = matchMedia('(prefers-color-scheme: dark)');

export function Chart({ label, times, series, format, height = 190 }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const [library, setLibrary] = useState<Plot | 'missing'>();
  const [scheme, setScheme] = useState(darkness.matches);
  useEffect(() => {
    // Fails to load when the browser's language is empty; the numbers are shown without it.
    import('uplot').then(
      (module) => setLibrary(() => module.default),
      () => setLibrary('missing'),
    );
    const onScheme = (): void => setScheme(darkness.matches);
    darkness.addEventListener('change', onScheme);
    return () => darkness.removeEventListener('change', onScheme);
  }, []);
  const names = series.map(({ name }) => name).join();
  useEffect(() => {
    const element = box.current;
    if (element === null || library === undefined || library === 'missing') return undefined;
    const made = new library(optionsOf(library, series, format, element.clientWidth, height), [[]], element);
    plot.current = made;
    const watcher = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }));
    watcher.observe(element);
    return () => {
      watcher.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [library, scheme, names, height]);
  useEffect(() => {
    plot.current?.setData([times.map((time) => time / 1000), ...series.map(({ values }) => [...values])]);
  });
  const said = series.map(({ name, values }) => `${name} ${format(values.at(-1) ?? 0)}`).join(', ');
  return (
    <figure class="chart" role="img" aria-label={`${label}: ${said}`}>
      <div class="legend" aria-hidden="true">
        {series.map(({ name, colour, values }) => (
          <span key={name}>
            <i style={{ background: `var(${colour})` }} />
            {name} <b>{format(values.at(-1) ?? 0)}</b>
          </span>
        ))}
      </div>
      <div ref={box} style={{ height: `${height}px` }} />
    </figure>
  );
}

function optionsOf(
  library: Plot,
  series: readonly Series[],
  format: (value: number) => string,
  width: number,
  height: number,
): uPlot.Options {
  const [muted, line] = [colourOf('--muted'), colourOf('--line')];
  const font = '11px system-ui, sans-serif';
  const axis = { stroke: muted, font, grid: { stroke: line, width: 1 }, ticks: { show: false } };
  return {
    width,
    height,
    legend: { show: false },
    cursor: { show: false },
    // Space on the right for half of the last time label.
    padding: [8, 18, 0, 0],
    scales: { y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.15 : 1] } },
    tzDate: (seconds) => library.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    axes: [
      { ...axis, space: 70, size: 26, incrs: STEPS, values: '{HH}:{mm}' },
      { ...axis, size: 56, values: (_plot, ticks) => ticks.map((tick) => format(tick)) },
    ],
    series: [
      {},
      ...series.map(({ name, colour, fill, step }) => ({
        label: name,
        stroke: colourOf(colour),
        width: 1.75,
        points: { show: false },
        ...(fill && { fill: `${colourOf(colour)}1f` }),
        ...(step && library.paths.stepped && { paths: library.paths.stepped({ align: 1 }) }),
      })),
    ],
  };
}
