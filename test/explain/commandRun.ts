/** The command as a user runs it: in this process, which is quick, or in one of its own, which shares nothing with this one. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { vi } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const ROOT = join(import.meta.dirname, '../..');

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

/** In another folder, time zone and language. */
export function nodewrightElsewhere(folder: string, args: readonly string[], stdin = ''): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const loader = join(ROOT, 'node_modules/tsx/dist/esm/index.mjs');
    const child = spawn(process.execPath, ['--import', loader, join(ROOT, 'src/cli/nodewright.ts'), ...args], {
      cwd: folder,
      env: { PATH: process.env['PATH'], TZ: 'Asia/Tokyo', LANG: 'de_DE.UTF-8' },
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
    child.stdin.end(stdin);
  });
}
