/** Randomness as a port, so that a run can be replayed from its seed. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** An RFC 4122 version 4 UUID. */
  uuid(): string;
}
