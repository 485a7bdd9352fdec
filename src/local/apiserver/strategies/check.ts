/** Checks of one object, at its place inside another: collects field errors in upstream's order and words. */
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

  /** The place of a field; an empty name means this object itself. */
  place(name: string): string {
    return this.path === '' || name === '' ? this.path || name : `${this.path}.${name}`;
  }

  get(name: string): unknown {
    return at(this.value, name);
  }

  /** Empty when absent. */
  text(name: string): string {
    return textAt(this.value, name) ?? '';
  }

  number(name: string): number | undefined {
    return numberAt(this.value, name);
  }

  list(name: string): readonly unknown[] {
    return listAt(this.value, name);
  }

  /** What is inside, with the same errors, whether it is there or not. */
  at(...names: readonly string[]): Check {
    return new Check(at(this.value, ...names), this.place(names.join('.')), this.errors);
  }

  /** The same; undefined when it is not there. */
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

  /** Fields that stay as they are in `old`. */
  fixed(old: unknown, names: readonly string[], show: (value: unknown) => unknown = (value) => value): void {
    for (const name of names) {
      const value = this.get(name);
      if (!sameJson(value, at(old, name))) this.invalid(name, show(value), 'field is immutable');
    }
  }

  /** The text of a field that must not be empty. */
  require(name: string, why?: string): string {
    const text = this.text(name);
    if (text === '') this.missing(name, why);
    return text;
  }

  oneOf(name: string, allowed: readonly string[]): void {
    const text = this.text(name);
    if (!allowed.includes(text)) this.errors.push(unsupportedValue(this.place(name), text, allowed));
  }

  /** The same for a field that may be absent or empty. */
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

  /** Complaints about a text, such as those of names.ts. */
  problems(name: string, text: string, problems: (text: string) => readonly string[]): void {
    for (const why of problems(text)) this.invalid(name, text, why);
  }
}
