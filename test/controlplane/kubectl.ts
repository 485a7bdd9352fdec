/** Runs the real kubectl. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';

export interface KubectlOptions {
  readonly input?: string;
  /** Path of a kubeconfig; the admin's unless given. */
  readonly kubeconfig?: string;
  readonly timeoutMilliseconds?: number;
  /** Added to this process's environment: the editor, the width of the terminal. */
  readonly environment?: Readonly<Record<string, string>>;
}

export interface KubectlResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

export function runKubectl(
  program: string,
  workDir: string,
  args: readonly string[],
  options: KubectlOptions & { readonly kubeconfig: string },
): Promise<KubectlResult> {
  // The discovery cache stays in the work folder: the same port may belong to another plane tomorrow.
  const env = {
    ...process.env,
    KUBECONFIG: options.kubeconfig,
    KUBECACHEDIR: join(workDir, 'kubectl-cache'),
    KUBERC: 'off',
    ...options.environment,
  };
  const settings = { env, timeout: options.timeoutMilliseconds ?? 60_000, maxBuffer: 256 * 1024 * 1024 };
  return new Promise((resolve, reject) => {
    const child = execFile(program, args, settings, (error, stdout, stderr) => {
      if (error === null) return resolve({ stdout, stderr, code: 0 });
      if (typeof error.code === 'number') return resolve({ stdout, stderr, code: error.code });
      return reject(error);
    });
    // A kubectl that fails before reading its input closes the pipe; its exit code reports the failure.
    child.stdin?.on('error', () => {});
    child.stdin?.end(options.input ?? '');
  });
}
