/**
 * The tracing port: where the time of a pass goes, as spans. What becomes of them is decided elsewhere; a loop can never
 * fail because of them.
 */
export interface Tracer {
  /** Begins a trace. `since`: when what it covers began, in milliseconds since 1970; now when absent. */
  begin(name: string, since?: number): Span;
}

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface Span {
  /** A part of it; `since` as of a trace. */
  child(name: string, since?: number): Span;
  /** Once. With an error when what it covers failed. */
  end(attributes?: SpanAttributes, error?: unknown): void;
}

const noSpan: Span = { child: () => noSpan, end: () => {} };

/** Keeps nothing. */
export const noTracer: Tracer = { begin: () => noSpan };

/** Ends the span with what the work returns or throws. */
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
