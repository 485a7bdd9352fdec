/** Runs the command in a separate process, which shares no state with this one. */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, symlink } from 'node:fs/promises';
import { join } from 'node:path';

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const ROOT = join(import.meta.dirname, '../..');

/** The sources as a clone has them, in a folder of their own. */
export async function freshClone(folder: string): Promise<void> {
  const listed = execFileSync(
    'git',
    ['ls-files', '-co', '--exclude-standard', 'src', 'package.json', 'tsconfig.json'],
    {
      cwd: ROOT,
      encoding: 'utf8',
    },
  );
  const files = listed.split('\n').filter((file) => file !== '' && existsSync(join(ROOT, file)));
  for (const file of files) await cp(join(ROOT, file), join(folder, file));
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
}

export const HERE = { PATH: process.env['PATH'] };
const ELSEWHERE = { ...HERE, TZ: 'Asia/Tokyo', LANG: 'de_DE.UTF-8' };

interface ProcessOptions {
  readonly stdin?: string;
  /** Where the sources are. */
  readonly clone?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** A command of the shell that its output is piped through. */
  readonly through?: string;
  /** Ctrl-C is pressed when it resolves. */
  readonly interrupted?: Promise<void>;
}

/** In another folder, and unless told otherwise in another time zone and language. */
export function nodewrightElsewhere(
  folder: string,
  args: readonly string[],
  { stdin = '', clone = ROOT, env = ELSEWHERE, through, interrupted }: ProcessOptions = {},
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const loader = join(clone, 'node_modules/tsx/dist/esm/index.mjs');
    const command = [process.execPath, '--import', loader, join(clone, 'src/cli/nodewright.ts'), ...args];
    const [program = '', ...words] =
      through === undefined ? command : ['sh', '-c', `"$@" | ${through}`, 'sh', ...command];
    const child = spawn(program, words, { cwd: folder, env });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
    child.stdin.end(stdin);
    interrupted?.then(() => child.kill('SIGINT'), reject);
  });
}
