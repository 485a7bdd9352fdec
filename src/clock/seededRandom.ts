import type { Random } from './random.ts';

/** Reproducible randomness: the same seed gives the same numbers and UUIDs on every machine. */
export class SeededRandom implements Random {
  // State of the sfc32 generator: three words of noise and a counter that guarantees a long period.
  private a: number;
  private b: number;
  private c: number;
  private counter = 1;

  constructor(seed: number | string) {
    const text = String(seed);
    this.a = hash(text, 0x9e3779b9);
    this.b = hash(text, 0x243f6a88);
    this.c = hash(text, 0xb7e15162);
    for (let round = 0; round < 15; round++) this.word();
  }

  next(): number {
    return ((this.word() >>> 5) * 2 ** 26 + (this.word() >>> 6)) / 2 ** 53;
  }

  uuid(): string {
    const one = this.word();
    const two = this.word();
    const three = this.word();
    const four = this.word();
    const version = (two & 0x0fff) | 0x4000;
    const variant = ((three >>> 16) & 0x3fff) | 0x8000;
    return `${word(one)}-${half(two >>> 16)}-${half(version)}-${half(variant)}-${half(three)}${word(four)}`;
  }

  private word(): number {
    const sum = (this.a + this.b + this.counter) | 0;
    this.counter = (this.counter + 1) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = (((this.c << 21) | (this.c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }
}

const BYTES = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
const byte = (value: number): string => BYTES[value & 0xff] ?? '';
const half = (value: number): string => byte(value >>> 8) + byte(value);
const word = (value: number): string => half(value >>> 16) + half(value);

/** FNV-1a with a given start value and a final mix, so that similar seeds give different states. */
function hash(text: string, start: number): number {
  let state = start ^ 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    state = Math.imul(state ^ text.charCodeAt(index), 0x01000193);
  }
  state = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
  state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35);
  return (state ^ (state >>> 16)) >>> 0;
}
