/**
 * Reads the plain part of YAML that kubectl and our own printer write: block mappings and sequences, scalars on one line and
 * literal blocks. It is several times faster than a whole parser. Whatever else a text has, it leaves to that parser.
 */

/** Stands for a text that needs a whole YAML parser. */
export const NOT_PLAIN = Symbol('not plain');

/** Indentation behind the last line. */
const END = -1;
/** Deeper texts are left to the parser, which has a limit of its own. */
const MAX_DEPTH = 40;
const UNUSUAL = /[^\x20-\x7e\n]/;
/** Indentation and dash of an item, then a key with what follows it. */
const ENTRY = /^( *)(- )?(?:([A-Za-z_][\w./-]{0,250}):(?: +(.*))?|(.*))$/;
const WORD = /^-{0,2}[A-Za-z/_](?:[\w ./+@=,;()%-]|:(?! |$))*$/;
const WHOLE_NUMBER = /^(?:0|[1-9]\d{0,14})$/;
/** No number of YAML has one of these letters. */
const AMOUNT = /^\d+(?:\.\d+)?(?:m|k|M|G|T|Ki|Mi|Gi|Ti)$/;
/** Such as IDs, dates and addresses: no number has two dashes or two dots behind its first digit. */
const NAME_WITH_DIGITS = /^\d[\w.]*(?:-[\w.]*-|\.\w*\.)[\w.-]*$/;
const QUOTED = /^(?:"([^"\\]*)"|'([^']*)')$/;
/** Words that YAML 1.1 takes for something else than text, in any case of letters. */
const SPECIAL = /^(?:y|yes|on|n|no|off|true|false|null)$/i;

/** The value of a text with one document; `NOT_PLAIN` where a whole parser must read it. */
export function parsePlainYaml(text: string): unknown {
  if (UNUSUAL.test(text)) return NOT_PLAIN;
  return new PlainReader(text.startsWith('---\n') ? text.slice(4) : text).document();
}

class PlainReader {
  private readonly lines: readonly string[];
  private isPlain = true;
  private at = -1;
  /** Parts of the line that is read. */
  private indent = -1;
  private isItem = false;
  private key: string | undefined;
  private rest = '';

  constructor(text: string) {
    this.lines = text.split('\n');
  }

  document(): unknown {
    this.next();
    if (this.indent !== 0) return NOT_PLAIN;
    const value = this.block(0, 0);
    return this.isPlain && this.isAtEnd ? value : NOT_PLAIN;
  }

  private get isAtEnd(): boolean {
    return this.indent === END;
  }

  private block(indent: number, depth: number): unknown {
    if (depth > MAX_DEPTH) return this.giveUp();
    const value = this.isItem ? this.sequence(indent, depth) : this.mapping(indent, depth);
    return this.indent > indent ? this.giveUp() : value;
  }

  private sequence(indent: number, depth: number): unknown[] {
    const items: unknown[] = [];
    while (this.indent === indent && this.isItem) {
      if (this.key === undefined) items.push(this.inline(this.rest, indent));
      else {
        // The rest of the line is the first entry of a mapping.
        this.isItem = false;
        this.indent = indent + 2;
        items.push(this.block(this.indent, depth + 1));
      }
    }
    return items;
  }

  private mapping(indent: number, depth: number): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    while (this.indent === indent && !this.isItem) {
      const { key, rest } = this;
      if (key === undefined || key in object || SPECIAL.test(key)) this.giveUp();
      else object[key] = rest === '' ? this.nested(indent, depth) : this.inline(rest, indent);
    }
    return object;
  }

  /** What stands below a key; items may stand as far to the left as the key. */
  private nested(indent: number, depth: number): unknown {
    this.next();
    if (this.indent > indent || (this.indent === indent && this.isItem)) return this.block(this.indent, depth + 1);
    return null;
  }

  /** A value that begins on the line of its key or dash. */
  private inline(text: string, indent: number): unknown {
    if (text === '|') return this.literal(indent);
    const value = scalar(text.trimEnd());
    if (value === NOT_PLAIN) return this.giveUp();
    this.next();
    return value;
  }

  private literal(indent: number): unknown {
    const from = this.at + 1;
    const first = this.lines[from] ?? '';
    const margin = first.slice(0, first.length - first.trimStart().length);
    if (margin.length <= indent || margin === first) return this.giveUp();
    let to = from;
    while (this.lines[to] === '' || this.lines[to]?.startsWith(margin) === true) to++;
    // The value of a text that ends without a line break has none at its end either.
    if (to === this.lines.length && this.lines.at(-1) !== '') return this.giveUp();
    const text = this.lines.slice(from, to).map((line) => line.slice(margin.length));
    this.at = to - 1;
    this.next();
    return `${text.join('\n').replace(/\n+$/, '')}\n`;
  }

  /** Goes to the next line that is not empty. */
  private next(): void {
    do this.at += 1;
    while (this.lines[this.at] === '');
    const found = ENTRY.exec(this.lines[this.at] ?? '');
    if (found === null || this.at >= this.lines.length) {
      this.indent = END;
      this.isItem = false;
      return;
    }
    const [, spaces = '', dash, key, value = '', text = ''] = found;
    this.indent = spaces.length;
    this.isItem = dash !== undefined;
    this.key = key;
    this.rest = key === undefined ? text : value;
  }

  /** Ends the reading: every loop looks at the indentation. */
  private giveUp(): undefined {
    this.isPlain = false;
    this.indent = END;
    this.isItem = false;
  }
}

function scalar(text: string): unknown {
  if (WORD.test(text)) {
    if (!SPECIAL.test(text)) return text;
    if (text === 'true') return true;
    if (text === 'false') return false;
    return text === 'null' ? null : NOT_PLAIN;
  }
  if (WHOLE_NUMBER.test(text)) return Number(text);
  if (AMOUNT.test(text) || NAME_WITH_DIGITS.test(text)) return text;
  if (text === '{}') return {};
  if (text === '[]') return [];
  const quoted = QUOTED.exec(text);
  return quoted === null ? NOT_PLAIN : (quoted[1] ?? quoted[2]);
}
