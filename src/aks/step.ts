/** Work on a cluster as a list of steps: looked at first, carried out in order, taken back when one fails. */
import { NodewrightError } from '../errors/nodewrightError.ts';
import { messageOf } from '../errors/thrown.ts';

export interface Step {
  readonly name: string;
  /** What it does, as a plan shows it. */
  readonly what: string;
  /** Whether nothing is left to do; a run that was interrupted goes on from there. */
  isDone(): Promise<boolean>;
  run(): Promise<void>;
  /** Takes back what `run` has made. Absent: it does no harm and stays. */
  undo?(): Promise<void>;
  /** Whether it was done by a run that was interrupted: then a failure takes it back, too. */
  wasBegun?(): Promise<boolean>;
}

/** `done`: was so before. `planned`: a dry run would do it. `left`: could not be taken back. */
type StepState = 'done' | 'planned' | 'made' | 'failed' | 'undone' | 'left';

export interface StepRecord {
  readonly step: string;
  readonly what: string;
  readonly state: StepState;
  readonly problem?: string;
}

export interface RunOptions {
  readonly dryRun: boolean;
  /** Told of each step as it ends. */
  readonly onRecord?: (record: StepRecord) => void;
}

export async function runSteps(steps: readonly Step[], { dryRun, onRecord }: RunOptions): Promise<StepRecord[]> {
  const records: StepRecord[] = [];
  const note = (step: Step, state: StepState, problem?: string): void => {
    const record = { step: step.name, what: step.what, state, ...(problem !== undefined && { problem }) };
    records.push(record);
    onRecord?.(record);
  };
  const made: Step[] = [];
  for (const step of steps) {
    try {
      if (await step.isDone()) {
        note(step, 'done');
        if (!dryRun && (await step.wasBegun?.()) === true) made.push(step);
        continue;
      }
      if (dryRun) {
        note(step, 'planned');
        continue;
      }
      made.push(step);
      await step.run();
      note(step, 'made');
    } catch (error) {
      note(step, 'failed', messageOf(error));
      await undo(made, note);
      const known = error instanceof NodewrightError ? { remedy: error.remedy } : {};
      const data = { step: step.name, problem: messageOf(error), ...known };
      throw new NodewrightError('StepFailed', data, { cause: error });
    }
  }
  return records;
}

/** Also the step that failed: it may have come half way. */
async function undo(
  made: readonly Step[],
  note: (step: Step, state: StepState, problem?: string) => void,
): Promise<void> {
  for (const step of made.toReversed()) {
    if (step.undo === undefined) continue;
    try {
      await step.undo();
      note(step, 'undone');
    } catch (error) {
      note(step, 'left', messageOf(error));
    }
  }
}
