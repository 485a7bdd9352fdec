/** The command as a user runs it, in this process, which is quick. */
import { vi } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import type { Outcome } from './commandProcess.ts';

export async function nodewright(...args: readonly string[]): Promise<Outcome> {
  const [stdout, stderr]: [string[], string[]] = [[], []];
  const into = (list: string[]) => (text: string | Uint8Array) => {
    list.push(String(text));
    return true;
  };
  const spies = [
    vi.spyOn(process.stdout, 'write').mockImplementation(into(stdout)),
    vi.spyOn(process.stderr, 'write').mockImplementation(into(stderr)),
    vi.spyOn(console, 'error').mockImplementation((text: string) => void stderr.push(`${text}\n`)),
  ];
  try {
    const code = await runProgram(args);
    return { code, stdout: stdout.join(''), stderr: stderr.join('') };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}
