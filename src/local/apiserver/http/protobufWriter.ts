/** Writes the wire format of protobuf, as far as OpenAPI documents need it. */
const VARINT = 0;
const DOUBLE = 1;
const BYTES = 2;

export class ProtobufWriter {
  private readonly parts: Buffer[] = [];

  text(field: number, value: string | undefined): this {
    if (value !== undefined && value !== '') this.bytes(field, Buffer.from(value, 'utf8'));
    return this;
  }

  texts(field: number, values: readonly string[] | undefined): this {
    for (const value of values ?? []) this.bytes(field, Buffer.from(value, 'utf8'));
    return this;
  }

  flag(field: number, value: boolean | undefined): this {
    if (value === true) this.parts.push(varint(field * 8 + VARINT), varint(1));
    return this;
  }

  integer(field: number, value: number | undefined): this {
    if (value !== undefined && value > 0) this.parts.push(varint(field * 8 + VARINT), varint(value));
    return this;
  }

  double(field: number, value: number | undefined): this {
    if (value === undefined || value === 0) return this;
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(value);
    this.parts.push(varint(field * 8 + DOUBLE), bytes);
    return this;
  }

  message(field: number, message: ProtobufWriter | undefined): this {
    if (message !== undefined) this.bytes(field, message.finish());
    return this;
  }

  finish(): Buffer {
    return Buffer.concat(this.parts);
  }

  private bytes(field: number, value: Buffer): void {
    this.parts.push(varint(field * 8 + BYTES), varint(value.length), value);
  }
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 127) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
  return Buffer.from(bytes);
}
