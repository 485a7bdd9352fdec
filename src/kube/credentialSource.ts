/**
 * The client's credentials: those for the next request, and newer ones, if any, after the server rejected the current
 * ones.
 */
export interface Credentials {
  /** The value of the `Authorization` header. */
  readonly authorization?: string;
  readonly certificate?: ClientCertificate;
}

export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
}

export interface CredentialSource {
  current(): Promise<Credentials>;
  /** After a 401 for `refused`: newer credentials, or undefined when there are none. */
  renew(refused: Credentials): Promise<Credentials | undefined>;
}
