/** A request that ARM refuses, with the HTTP status and the machine-readable code that real Azure uses. */
import { withoutAbsent } from '../apiserver/fields.ts';

interface ArmErrorDetail {
  readonly code: string;
  readonly message: string;
  readonly target?: string;
}

export interface ArmErrorOptions {
  readonly target?: string;
  readonly details?: readonly ArmErrorDetail[];
  readonly innererror?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body has no `error` around the code, as in errors of the container service. */
  readonly flat?: true;
}

export interface ArmErrorContent extends ArmErrorDetail {
  readonly details?: readonly ArmErrorDetail[];
  readonly innererror?: Readonly<Record<string, unknown>>;
}

export class ArmError extends Error {
  override readonly name = 'ArmError';
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;
  private readonly options: ArmErrorOptions;

  constructor(status: number, code: string, message: string, options: ArmErrorOptions = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = options.headers ?? {};
    this.options = options;
  }

  /** Returns code, message and details as operations and responses show them. */
  content(): ArmErrorContent {
    const { target, details, innererror } = this.options;
    return { code: this.code, message: this.message, ...withoutAbsent({ target, details, innererror }) };
  }

  /** Returns the body of the response: `{"error":{"code","message"}}`, or without the wrapping. */
  toBody(): object {
    return this.options.flat === true ? this.content() : { error: this.content() };
  }
}

/** An error of the token endpoint, in the format of OAuth 2 and with Entra's number. */
export class DirectoryError extends ArmError {
  private readonly number: number | undefined;

  constructor(status: number, code: string, number: number | undefined, message: string) {
    super(status, code, message);
    this.number = number;
  }

  override toBody(): object {
    if (this.number === undefined) return { error: this.code, error_description: this.message };
    return {
      error: this.code,
      error_description: `AADSTS${this.number}: ${this.message}`,
      error_codes: [this.number],
      error_uri: `https://login.microsoftonline.com/error?code=${this.number}`,
    };
  }
}
