import { ArmError } from '../armError.ts';

/** A refusal of the token endpoint, in the words of OAuth 2 and with the number that Entra gives it. */
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
