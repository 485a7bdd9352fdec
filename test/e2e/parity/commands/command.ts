/** Command lines as data. `NS` stands for the namespace that each case has to itself. */
export interface Command {
  /** As typed after `kubectl -n <namespace>`; words are split at spaces, quotes keep them together. */
  readonly line: string;
  readonly input?: string;
  /** Only preparation; not compared. */
  readonly quiet?: boolean;
  /** A shell command used as the editor of `kubectl edit`. */
  readonly editor?: string;
  /** Repeated until it succeeds, for effects that take a moment. */
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
  const parts = /"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s"']+)/g;
  return [...line.matchAll(/(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'])+/g)].map(([word]) =>
    [...word.matchAll(parts)]
      .map(([, double, single, plain]) => double?.replaceAll('\\"', '"') ?? single ?? plain ?? '')
      .join(''),
  );
}
