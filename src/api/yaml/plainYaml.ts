/**
 * Parses the simple subset of YAML written by kubectl and our own printer: block mappings and sequences, one-line
 * scalars and literal blocks. Several times faster than a complete parser, to which all other text is left.
 */

/** Result for text that needs the complete parser. */
export const NOT_PLAIN = Symbol('not plain');

/** Indentation after the last line. */
const END = -1;
/** Deeper texts are left to the complete parser, which has its own limit. */
const MAX_DEPTH = 40;
const UNUSUAL = /[^\x20-\x7e\n]/;
/** Indentation and dash of an item, then a key and the rest of the line. */
const ENTRY = /^( *)(- )?(?:([A-Za-z_][\w./-]{0,250}):(?: +(.*))?|(.*))$/;
const WORD = /^-{0,2}[A-Za-z/_](?:[\w ./+@=,;()%-]|:(?! |$))*$/;
const WHOLE_NUMBER = /^(?:0|[1-9]\d{0,14})$/;
/** No YAML number contains these letters. */
const AMOUNT = /^\d+(?:\.\d+)?(?:m|k|M|G|T|Ki|Mi|Gi|Ti)$/;
/** For example IDs, dates and addresses: no number has two dashes or two dots after its first digit. */
const NAME_WITH_DIGITS = /^\d[\w.]*(?:-[\w.]*-|\.\w*\.)[\w.-]*$/;
const QUOTED = /^(?:"([^"\\]*)"|'([^']*)')$/;
/** Words that are not strings in YAML 1.1, in any letter case. */
const SPECIAL = /^(?:y|yes|on|n|no|off|true|false|null)$/i;

/** The value of a text with one document; `NOT_PLAIN` if a complete parser is needed. */
export function parsePlainYaml(text: string): unknown {
  if (UNUSUAL.test(text)) return NOT_PLAIN;
  return new PlainReader(text.startsWith('---\n') ? text.slice(4) : text).document();
}

class PlainReader {
  private readonly lines: readonly string[];
  private isPlain = true;
  private at = -1;
  /** Parts of the current line. */
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

  /** The value below a key; list items may have the same indentation as the key. */
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
    // If the text ends without a line break, so does its last value.
    if (to === this.lines.length && this.lines.at(-1) !== '') return this.giveUp();
    const text = this.lines.slice(from, to).map((line) => line.slice(margin.length));
    this.at = to - 1;
    this.next();
    return `${text.join('\n').replace(/\n+$/, '')}\n`;
  }

  /** Moves to the next line that is not empty. */
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

  /** Aborts: every loop checks the indentation. */
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
