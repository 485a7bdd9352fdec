/** One entry of the error catalogue. `Data` is the typed data that an error of this code carries. */
export interface ErrorEntry<Data> {
  /** `usage`: invalid input by the caller (exit code 2). `failure`: the run failed (exit code 1). */
  readonly exit: 'usage' | 'failure';
  /** When the error occurs, one sentence for docs/errors.md. */
  readonly about: string;
  /** The object and field at fault, such as `config.yaml: clusters["a"].server`. */
  readonly where?: (data: Data) => string;
  /** What happened, without a full stop. */
  readonly what: (data: Data) => string;
  /** What the user should do, as an instruction without a full stop. */
  readonly remedy: (data: Data) => string;
  /** For docs/errors.md and for the test that renders every entry. */
  readonly example: Data;
}

/** Declares an entry and keeps the type of its data. */
export function entry<Data>(definition: ErrorEntry<Data>): ErrorEntry<Data> {
  return definition;
}
