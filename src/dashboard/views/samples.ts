/** Parses selected metrics from the text format. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LINE = /^([a-z_][\w:]*)(?:\{(.*)\})? (\S+)$/i;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;
const UNESCAPED: Readonly<Record<string, string>> = { n: '\n', '"': '"', '\\': '\\' };

/** Parts need not end at line ends. */
export async function readSamples(parts: AsyncIterable<string>, wanted: ReadonlySet<string>): Promise<Sample[]> {
  const samples: Sample[] = [];
  let rest = '';
  const read = (line: string): void => {
    const end = line.search(/[{ ]/);
    if (end < 0 || !wanted.has(line.slice(0, end))) return;
    const [, name = '', labels = '', value = ''] = LINE.exec(line) ?? [];
    if (name !== '') samples.push({ name, labels: labelsOf(labels), value: Number(value) });
  };
  for await (const part of parts) {
    const lines = (rest + part).split('\n');
    rest = lines.pop() ?? '';
    lines.forEach(read);
  }
  read(rest);
  return samples;
}

function labelsOf(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...text.matchAll(LABEL)].map(([, name = '', value = '']) => [
      name,
      value.replaceAll(/\\(.)/g, (_, one: string) => UNESCAPED[one] ?? one),
    ]),
  );
}
