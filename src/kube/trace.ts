/**
 * The tracing port: where the time of a pass is spent, as spans. The composition root decides what happens to them;
 * they can never make a loop fail.
 */
export interface Tracer {
  /** Starts a trace. `since`: start time in milliseconds since 1970; default now. */
  begin(name: string, since?: number): Span;
}

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface Span {
  /** A child span; `since` as for a trace. */
  child(name: string, since?: number): Span;
  /** Call once. With an error if the covered work failed. */
  end(attributes?: SpanAttributes, error?: unknown): void;
}

const noSpan: Span = { child: () => noSpan, end: () => {} };

/** Discards everything. */
export const noTracer: Tracer = { begin: () => noSpan };

/** Ends the span with the result or error of the work. */
export async function traced<Result>(
  span: Span,
  work: () => Promise<Result>,
  attributesOf: (result: Result) => SpanAttributes = () => ({}),
): Promise<Result> {
  try {
    const result = await work();
    span.end(attributesOf(result));
    return result;
  } catch (error) {
    span.end({}, error);
    throw error;
  }
}
