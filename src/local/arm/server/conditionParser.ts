/** Parser of conditions with `and`, `or`, `not` and brackets; subclasses parse the comparisons of their language. */
export type Condition<Subject> = (subject: Subject) => boolean;

/** Returns the tokens of a text. String literals keep their quotes, so that none is taken for a keyword. */
export function tokenize(text: string, token: RegExp, refuse: (message: string) => Error): string[] {
  const tokens: string[] = [];
  token.lastIndex = 0;
  while (text.slice(token.lastIndex).trim() !== '') {
    const from = token.lastIndex;
    const found = token.exec(text)?.[1];
    if (found === undefined) throw refuse(`Unexpected '${text.slice(from).trim().slice(0, 20)}'`);
    tokens.push(found);
  }
  return tokens;
}

export abstract class ConditionParser<Subject> {
  private readonly tokens: readonly string[];
  private readonly refuse: (message: string) => Error;
  private position = 0;

  constructor(tokens: readonly string[], refuse: (message: string) => Error) {
    this.tokens = tokens;
    this.refuse = refuse;
  }

  condition(): Condition<Subject> {
    return this.whole(() => this.either());
  }

  /** Returns what `read` parses; throws when tokens are left. */
  protected whole<T>(read: () => T): T {
    const found = read();
    if (this.position < this.tokens.length) throw this.refuse(`Unexpected '${this.peek()}'`);
    return found;
  }

  protected abstract comparison(): Condition<Subject>;

  private either(): Condition<Subject> {
    const parts = [this.both()];
    while (this.take('or')) parts.push(this.both());
    return (subject) => parts.some((part) => part(subject));
  }

  private both(): Condition<Subject> {
    const parts = [this.single()];
    while (this.take('and')) parts.push(this.single());
    return (subject) => parts.every((part) => part(subject));
  }

  private single(): Condition<Subject> {
    const isNegated = this.take('not');
    const inner = this.take('(') ? this.either() : undefined;
    if (inner !== undefined) this.expect(')');
    const holds = inner ?? this.comparison();
    return (subject) => holds(subject) !== isNegated;
  }

  protected peek(): string {
    return this.tokens[this.position] ?? '';
  }

  /** Returns the next token; throws unless it matches `pattern`. */
  protected next(pattern = /./): string {
    const token = this.tokens[this.position];
    if (token === undefined) throw this.refuse('The expression ends too early');
    if (!pattern.test(token)) throw this.refuse(`Unexpected '${token}'`);
    this.position += 1;
    return token;
  }

  protected take(token: string): boolean {
    if (this.peek().toLowerCase() !== token) return false;
    this.position += 1;
    return true;
  }

  protected expect(token: string): void {
    if (!this.take(token)) throw this.refuse(`Expected '${token}'`);
  }
}
