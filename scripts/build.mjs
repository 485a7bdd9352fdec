// Bundles src/cli into dist/nodewright.js and the dashboard's page into dist/dashboard. Skips the work when nothing that goes into it has changed.
import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled, root } from './setup.mjs';

const output = join(root, 'dist', 'nodewright.js');
const stamp = join(root, 'dist', '.fingerprint');
const SCRIPTS = ['scripts/build.mjs', 'scripts/keep-compiled.ts', 'scripts/plan-sample.yaml'];

function fingerprint() {
  const hash = createHash('sha256');
  const sources = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const others = ['package.json', 'package-lock.json', ...SCRIPTS].map((name) => join(root, name));
  for (const file of [...sources, ...others]) {
    hash.update(file.slice(root.length)).update('\0').update(readFileSync(file));
  }
  return hash.digest('hex');
}

/** The short commit id for the log lines, where there is a git checkout to ask. */
function commit() {
  try {
    const options = { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
    return execFileSync('git', ['rev-parse', '--short=7', 'HEAD'], options).trim();
  } catch {
    return '';
  }
}

/** Leaves out what `plan` loads only to look at a cluster, and every other verb. */
const onlyPlan = {
  name: 'only-plan',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.{1,2}\// }, ({ kind, path }) =>
      kind === 'dynamic-import' && path !== './plan.ts' ? { path, external: true } : undefined,
    ),
};

export async function build() {
  ensureInstalled();
  const current = fingerprint();
  if (existsSync(output) && existsSync(stamp) && readFileSync(stamp, 'utf8') === current) return;
  const { build: bundle } = await import('esbuild');
  rmSync(join(root, 'dist.new'), { recursive: true, force: true });
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const define = {
    'process.env.NODEWRIGHT_VERSION': JSON.stringify(version),
    'process.env.NODEWRIGHT_COMMIT': JSON.stringify(commit()),
  };
  const program = {
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    logLevel: 'warning',
    define,
  };
  await bundle({
    ...program,
    entryPoints: { nodewright: 'src/cli/nodewright.ts', answerWorker: 'src/dashboard/answering/answerWorker.ts' },
    outdir: 'dist.new',
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    format: 'esm',
    sourcemap: true,
    // CommonJS dependencies inside an ES module bundle still call require.
    banner: {
      js: "import { createRequire as nodewrightRequire } from 'node:module'; const require = nodewrightRequire(import.meta.url);",
    },
  });
  await bundle({
    ...program,
    entryPoints: { plan: 'src/cli/program.ts' },
    outdir: 'dist.new',
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
    // Only asked for where the version is not a constant, as it is here.
    logOverride: { 'empty-import-meta': 'silent' },
    plugins: [onlyPlan],
  });
  const keepCompiled = [join(root, 'scripts/keep-compiled.ts'), join(root, 'dist.new/plan.cjs')];
  execFileSync(process.execPath, ['--import', 'tsx', ...keepCompiled], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await bundle({
    absWorkingDir: root,
    entryPoints: { page: 'src/dashboard/page/main.tsx' },
    outdir: 'dist.new/dashboard',
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    target: ['chrome110', 'firefox115', 'safari16'],
    tsconfig: 'src/dashboard/page/tsconfig.json',
    legalComments: 'none',
    logLevel: 'warning',
  });
  for (const file of ['index.html', 'favicon.svg']) {
    copyFileSync(join(root, 'src/dashboard/page', file), join(root, 'dist.new/dashboard', file));
  }
  chmodSync(join(root, 'dist.new', 'nodewright.js'), 0o755);
  writeFileSync(join(root, 'dist.new', '.fingerprint'), current);
  // A build that fails, or is killed, leaves the one before in place.
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  renameSync(join(root, 'dist.new'), join(root, 'dist'));
}

if (process.argv[1] === import.meta.filename) await build();
