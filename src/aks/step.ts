/** Changes of a cluster as a list of steps: each is checked first; they run in order and are undone when one fails. */
import { NodewrightError } from '../errors/nodewrightError.ts';
import { messageOf } from '../errors/thrown.ts';

export interface Step {
  readonly name: string;
  /** Description for a plan. */
  readonly what: string;
  /** Whether nothing is left to do; lets an interrupted run continue. */
  isDone(): Promise<boolean>;
  run(): Promise<void>;
  /** Reverts what `run` has done. Absent: the result is harmless and is kept. */
  undo?(): Promise<void>;
  /** Whether an interrupted run did it: then a failure undoes it too. */
  wasBegun?(): Promise<boolean>;
}

/** `done`: was already so. `planned`: a dry run would do it. `left`: could not be undone. */
type StepState = 'done' | 'planned' | 'made' | 'failed' | 'undone' | 'left';

export interface StepRecord {
  readonly step: string;
  readonly what: string;
  readonly state: StepState;
  readonly problem?: string;
}

export interface RunOptions {
  readonly dryRun: boolean;
  /** Called when a step ends. */
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

/** Includes the failed step: it may be half done. */
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
