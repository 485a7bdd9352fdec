/**
 * Destination of log lines: stdout, stderr or files. Lines are written whole and synchronously, so that nothing is
 * queued and nothing is lost when the process dies.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { NodewrightError } from '../errors/nodewrightError.ts';
import { writeProblem } from '../errors/thrown.ts';

export interface LogSink {
  /** `line` has no newline at the end. */
  write(line: string): void;
  close(): void;
}

export function openLogSink(paths: readonly string[]): LogSink {
  const sinks: LogSink[] = [];
  try {
    for (const path of new Set(paths)) sinks.push(openOne(path));
  } catch (error) {
    for (const sink of sinks) sink.close();
    throw error;
  }
  return {
    write: (line) => sinks.forEach((sink) => sink.write(line)),
    close: () => sinks.splice(0).forEach((sink) => sink.close()),
  };
}

function openOne(path: string): LogSink {
  if (path === 'stdout' || path === 'stderr') {
    // Looked up at each write, because tests and tools replace these streams.
    return { write: (line) => void process[path].write(`${line}\n`), close: () => undefined };
  }
  let descriptor: number;
  try {
    descriptor = openSync(path, 'a');
  } catch (error) {
    throw new NodewrightError('LogPathUnusable', { path, problem: writeProblem(error) }, { cause: error });
  }
  return { write: (line) => void writeSync(descriptor, `${line}\n`), close: () => closeSync(descriptor) };
}
