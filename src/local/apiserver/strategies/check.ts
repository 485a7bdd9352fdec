/** Validates one object, which may be nested: collects field errors with upstream's order and messages. */
import { at, listAt, numberAt, sameJson, textAt } from '../fields.ts';
import {
  duplicateValue,
  forbiddenChange,
  invalidValue,
  notFoundValue,
  required,
  unsupportedValue,
  type FieldError,
} from '../status.ts';

export class Check {
  readonly errors: FieldError[];
  readonly value: unknown;
  readonly path: string;

  constructor(value: unknown, path = '', errors: FieldError[] = []) {
    this.value = value;
    this.path = path;
    this.errors = errors;
  }

  /** Returns the path of a field; that of this object for an empty name. */
  place(name: string): string {
    return this.path === '' || name === '' ? this.path || name : `${this.path}.${name}`;
  }

  get(name: string): unknown {
    return at(this.value, name);
  }

  /** Returns '' if absent. */
  text(name: string): string {
    return textAt(this.value, name) ?? '';
  }

  number(name: string): number | undefined {
    return numberAt(this.value, name);
  }

  list(name: string): readonly unknown[] {
    return listAt(this.value, name);
  }

  /** Returns the check of a nested object, which may be absent, with the same list of errors. */
  at(...names: readonly string[]): Check {
    return new Check(at(this.value, ...names), this.place(names.join('.')), this.errors);
  }

  /** Returns the check of a nested object; undefined if it is absent. */
  inside(...names: readonly string[]): Check | undefined {
    return at(this.value, ...names) === undefined ? undefined : this.at(...names);
  }

  each(name: string, check: (item: Check, index: number) => void): void {
    this.list(name).forEach((item, index) =>
      check(new Check(item, `${this.place(name)}[${index}]`, this.errors), index),
    );
  }

  invalid(name: string, value: unknown, why: string): void {
    this.errors.push(invalidValue(this.place(name), value, why));
  }

  missing(name: string, why?: string): void {
    this.errors.push(required(this.place(name), why));
  }

  forbidden(name: string, why: string): void {
    this.errors.push(forbiddenChange(this.place(name), why));
  }

  duplicate(name: string, value: unknown): void {
    this.errors.push(duplicateValue(this.place(name), value));
  }

  notFound(name: string, value: unknown): void {
    this.errors.push(notFoundValue(this.place(name), value));
  }

  /** Reports fields that differ from `old`. */
  fixed(old: unknown, names: readonly string[], show: (value: unknown) => unknown = (value) => value): void {
    for (const name of names) {
      const value = this.get(name);
      if (!sameJson(value, at(old, name))) this.invalid(name, show(value), 'field is immutable');
    }
  }

  /** Returns the text of a field; reports it if empty. */
  require(name: string, why?: string): string {
    const text = this.text(name);
    if (text === '') this.missing(name, why);
    return text;
  }

  oneOf(name: string, allowed: readonly string[]): void {
    const text = this.text(name);
    if (!allowed.includes(text)) this.errors.push(unsupportedValue(this.place(name), text, allowed));
  }

  /** Like `oneOf`, for a field that may be absent or empty. */
  oneOfIfGiven(name: string, allowed: readonly string[]): void {
    if (this.text(name) !== '') this.oneOf(name, allowed);
  }

  notNegative(...names: readonly string[]): void {
    for (const name of names) {
      const value = this.number(name) ?? 0;
      if (value < 0) this.invalid(name, value, 'must be greater than or equal to 0');
    }
  }

  between(name: string, value: number | undefined, least: number, most: number): void {
    if (value !== undefined && (value < least || value > most)) {
      this.invalid(name, value, `must be between ${least} and ${most}, inclusive`);
    }
  }

  /** Reports the messages that a function, such as those of names.ts, returns for the text. */
  problems(name: string, text: string, problems: (text: string) => readonly string[]): void {
    for (const why of problems(text)) this.invalid(name, text, why);
  }
}
