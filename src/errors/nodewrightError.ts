import { entryOf, type ErrorCode, type ErrorData } from './catalogue.ts';

/**
 * An error shown to users. `message` names the object at fault and what happened; `remedy` says what to do. Everything
 * follows from the code and the data, so readers of JSON logs need only these two.
 */
export class NodewrightError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name: string = 'NodewrightError';
  readonly code: Code;
  readonly data: ErrorData<Code>;
  readonly remedy: string;

  constructor(code: Code, data: ErrorData<Code>, options?: { readonly cause?: unknown }) {
    const { where, what, remedy } = entryOf(code);
    const object = where?.(data);
    super(object === undefined ? what(data) : `${object}: ${what(data)}`, options);
    this.code = code;
    this.data = data;
    this.remedy = remedy(data);
  }

  get exit(): 'usage' | 'failure' {
    return entryOf(this.code).exit;
  }
}

export function isNodewrightError<Code extends ErrorCode>(error: unknown, code: Code): error is NodewrightError<Code> {
  return error instanceof NodewrightError && error.code === code;
}
