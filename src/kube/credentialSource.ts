/**
 * The client's credentials, kept fresh: those for the next request, and newer ones, if there are any, after the server
 * refused the present ones.
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
  /** After a 401 to `refused`: something else to try, or undefined when there is nothing newer. */
  renew(refused: Credentials): Promise<Credentials | undefined>;
}
