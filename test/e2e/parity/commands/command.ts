/** Command lines as data. `NS` stands for the namespace that each case has to itself. */
export interface Command {
  /** As typed after `kubectl -n <namespace>`; words are split at spaces, quotes keep them together. */
  readonly line: string;
  readonly input?: string;
  /** Only sets the stage. */
  readonly quiet?: boolean;
  /** A shell command that stands for the person in `kubectl edit`. */
  readonly editor?: string;
  /** Asked again until it succeeds: for what takes a moment. */
  readonly retry?: boolean;
  /** The order of lines is the server's business: they are compared sorted. */
  readonly sorted?: boolean;
}

export interface Case {
  readonly name: string;
  readonly commands: readonly Command[];
}

export const run = (line: string, options: Partial<Command> = {}): Command => ({ line, ...options });
export const set = (line: string, options: Partial<Command> = {}): Command => ({ line, quiet: true, ...options });
export const apply = (input: string): Command => ({ line: 'apply -f -', input, quiet: true });
export const commands = (name: string, ...list: Command[]): Case => ({ name, commands: list });

export function words(line: string): string[] {
  return [...line.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double?.replaceAll('\\"', '"') ?? single ?? plain ?? '',
  );
}
