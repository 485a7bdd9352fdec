/**
 * Every reason to call a run a failure, given its outcomes and the specs that are known not to pass yet; so that the
 * list of known ones can only shrink.
 */
import type { Outcome } from './runSpec.ts';

export interface NotYet {
  readonly spec: string;
  readonly reason: string;
  /** How long it must be given to pass, in minutes, before it counts as not passing. */
  readonly minutes?: number;
}

export function problemsOf(outcomes: readonly Outcome[], notYet: readonly NotYet[]): readonly string[] {
  const known = new Set(notYet.map(({ spec }) => spec));
  return outcomes.flatMap(({ spec, passed, complaint = '' }) => {
    if (passed && known.has(spec)) return [`passes, so take it off the list in test/upstream/notYet.ts: ${spec}`];
    if (!passed && !known.has(spec)) return [`does not pass: ${spec}\n    ${complaint}`];
    return [];
  });
}

/** Entries that name no spec would hide that a spec was renamed. */
export function strangersOf(specs: readonly string[], notYet: readonly NotYet[]): readonly string[] {
  const existing = new Set(specs);
  return notYet.filter(({ spec }) => !existing.has(spec)).map(({ spec }) => spec);
}

/** A table for people, one row for each area. */
export function summaryOf(outcomes: readonly Outcome[], notYet: readonly NotYet[]): string {
  const known = new Set(notYet.map(({ spec }) => spec));
  const areas = [...new Set(outcomes.map(({ area }) => area))];
  const row = (name: string, of: readonly Outcome[]): string => {
    const count = (wanted: (outcome: Outcome) => boolean): string => String(of.filter(wanted).length).padStart(8);
    const seconds = of.reduce((sum, outcome) => sum + outcome.seconds, 0);
    return [
      name.padEnd(14),
      count(() => true),
      count(({ passed }) => passed),
      count(({ passed, spec }) => !passed && known.has(spec)),
      count(({ passed, spec }) => !passed && !known.has(spec)),
      String(seconds).padStart(9),
    ].join('');
  };
  const head = ['area'.padEnd(14), ...['specs', 'passed', 'not yet', 'failed'].map((name) => name.padStart(8))];
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
