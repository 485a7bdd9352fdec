/**
 * A value in a configuration file together with its location, so that errors name file and field. Invalid values give
 * an `InvalidClusterConfig` error.
 */
import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, resolve } from 'node:path';
import type { NodewrightError } from '../errors/nodewrightError.ts';
import { systemProblem } from '../errors/thrown.ts';
import { clusterConfigError } from './clusterConfig.ts';

export class Field {
  readonly file: string;
  readonly path: string;
  private readonly value: unknown;

  constructor(file: string, path: string, value: unknown) {
    this.file = file;
    this.path = path;
    this.value = value;
  }

  get present(): boolean {
    return this.value !== undefined && this.value !== null && this.value !== '';
  }

  get raw(): unknown {
    return this.value;
  }

  error(problem: string, cause?: unknown): NodewrightError {
    return clusterConfigError(this.file, this.path, problem, cause);
  }

  at(key: string): Field {
    const value =
      typeof this.value === 'object' && this.value !== null && !Array.isArray(this.value)
        ? (this.value as Record<string, unknown>)[key]
        : undefined;
    return new Field(this.file, this.path === '' ? key : `${this.path}.${key}`, value);
  }

  /** Returns itself after checking that it is a mapping. */
  object(): this {
    if (typeof this.value !== 'object' || this.value === null || Array.isArray(this.value)) {
      throw this.error(`expected a mapping, found ${kindOf(this.value)}`);
    }
    return this;
  }

  /** The elements of a list; messages refer to a named one by its name. Absent: empty. */
  entries(): Field[] {
    if (!this.present) return [];
    if (!Array.isArray(this.value)) throw this.error(`expected a list, found ${kindOf(this.value)}`);
    return this.value.map((value: unknown, index) => {
      const name = new Field('', '', value).at('name').raw;
      const label = typeof name === 'string' ? `"${name}"` : index;
      return new Field(this.file, `${this.path}[${label}]`, value);
    });
  }

  string(): string {
    const value = this.optionalString();
    if (value === undefined) throw this.error('required, but missing');
    return value;
  }

  optionalString(): string | undefined {
    if (!this.present) return undefined;
    if (typeof this.value !== 'string') throw this.error(`expected text, found ${kindOf(this.value)}`);
    return this.value;
  }

  optionalBoolean(): boolean | undefined {
    if (!this.present) return undefined;
    if (typeof this.value !== 'boolean') throw this.error(`expected true or false, found ${kindOf(this.value)}`);
    return this.value;
  }

  strings(): string[] {
    return this.entries().map((entry) => entry.string());
  }

  /** A path, resolved relative to the configuration file. */
  filePath(): string {
    const path = this.string();
    return isAbsolute(path) ? path : resolve(dirname(this.file), path);
  }

  async fileText(): Promise<string> {
    const path = this.filePath();
    try {
      return await readFile(path, 'utf8');
    } catch (error) {
      throw this.error(`cannot read ${path}: ${systemProblem(error)}`, error);
    }
  }

  base64Pem(): string {
    const text = Buffer.from(this.string(), 'base64').toString('utf8');
    if (!text.includes('-----BEGIN ')) throw this.error('is not base64 of a PEM text');
    return text;
  }
}

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'a mapping' : `a ${typeof value}`;
}
