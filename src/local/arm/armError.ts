/** A request that ARM refuses, with the HTTP status and the machine-readable code that real Azure uses. */
export class ArmError extends Error {
  override readonly name = 'ArmError';
  readonly status: number;
  readonly code: string;
  readonly target: string | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: string,
    message: string,
    options: { readonly target?: string; readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.target = options.target;
    this.headers = options.headers ?? {};
  }

  /** The body of the response: `{"error":{"code","message"}}`. */
  toBody(): ArmErrorBody {
    return {
      error: {
        code: this.code,
        message: this.message,
        ...(this.target === undefined ? {} : { target: this.target }),
      },
    };
  }
}

export interface ArmErrorBody {
  readonly error: { readonly code: string; readonly message: string; readonly target?: string };
}
