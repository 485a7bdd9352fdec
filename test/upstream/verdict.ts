/** The result of a run of the suite. */
import type { Outcome } from './runSpec.ts';

/** Every reason to call a run a failure. */
export function problemsOf(outcomes: readonly Outcome[]): readonly string[] {
  return outcomes.flatMap(({ spec, passed, complaint = '' }) =>
    passed ? [] : [`does not pass: ${spec}\n    ${complaint}`],
  );
}

/** A table for people, one row for each area. */
export function summaryOf(outcomes: readonly Outcome[]): string {
  const areas = [...new Set(outcomes.map(({ area }) => area))];
  const row = (name: string, of: readonly Outcome[]): string => {
    const count = (wanted: (outcome: Outcome) => boolean): string => String(of.filter(wanted).length).padStart(8);
    const seconds = of.reduce((sum, outcome) => sum + outcome.seconds, 0);
    return [
      name.padEnd(14),
      count(() => true),
      count(({ passed }) => passed),
      count(({ passed }) => !passed),
      String(seconds).padStart(9),
    ].join('');
  };
  const head = ['area'.padEnd(14), ...['specs', 'passed', 'failed'].map((name) => name.padStart(8))];
  return [
    [...head, 'seconds'.padStart(9)].join(''),
    ...areas.map((area) =>
      row(
        area,
        outcomes.filter((outcome) => outcome.area === area),
      ),
    ),
    row('all', outcomes),
  ].join('\n');
}
