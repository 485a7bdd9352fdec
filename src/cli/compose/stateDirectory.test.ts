import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readAzureEnvironment } from './azureEnvironment.ts';
import { claimStateDirectory } from './stateDirectory.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'nodewright-state-'));
  await writeFile(join(folder, 'azure.env'), "export AZURE_CLIENT_ID='me'\n");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it('has an Azure while the process of its world lives', async () => {
  await writeFile(join(folder, 'pid'), `${process.pid}\n`);
  expect(await readAzureEnvironment(join(folder, 'azure.env'), folder)).toEqual({ AZURE_CLIENT_ID: 'me' });
});

it('has none any more where that process was killed', async () => {
  const { pid } = spawnSync(process.execPath, ['--version']);
  await writeFile(join(folder, 'pid'), `${pid}\n`);
  await expect(readAzureEnvironment(join(folder, 'azure.env'), folder)).rejects.toMatchObject({ code: 'NoLocalWorld' });
});

it('has none where its file is empty', async () => {
  await writeFile(join(folder, 'azure.env'), '\n');
  await expect(readAzureEnvironment(join(folder, 'azure.env'), folder)).rejects.toMatchObject({ code: 'NoLocalWorld' });
});

it.each([
  ['azure.env', 'this is a file'],
  ['a'.repeat(300), 'the name is too long'],
])('says of a directory that cannot be made why, and what to do: %s', async (name, problem) => {
  const path = join(folder, name);
  await expect(claimStateDirectory(path)).rejects.toMatchObject({
    code: 'StateDirectoryUnusable',
    message: `${path}: ${problem}`,
    remedy: 'give a directory that this process may write as --state-dir',
  });
});
