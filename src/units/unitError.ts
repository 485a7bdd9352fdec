/** Error of all parsers in this folder: a stable code, the rejected text, and one sentence. */
export type UnitErrorCode = 'InvalidQuantity' | 'InvalidDuration' | 'InvalidSchedule' | 'InvalidPrice';

export class UnitError extends RangeError {
  readonly code: UnitErrorCode;
  /** The input. */
  readonly text: string;

  constructor(code: UnitErrorCode, text: string, sentence: string) {
    super(sentence);
    this.name = 'UnitError';
    this.code = code;
    this.text = text;
  }
}
