/** The error that every parser of this room throws: a stable code, the text that was refused, and one sentence. */
export type UnitErrorCode = 'InvalidQuantity' | 'InvalidDuration' | 'InvalidSchedule' | 'InvalidPrice';

export class UnitError extends RangeError {
  readonly code: UnitErrorCode;
  /** The input as it was given. */
  readonly text: string;

  constructor(code: UnitErrorCode, text: string, sentence: string) {
    super(sentence);
    this.name = 'UnitError';
    this.code = code;
    this.text = text;
  }
}
