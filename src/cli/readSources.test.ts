import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readSources } from './readSources.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'nodewright-manifests-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it('reads a folder in order of name, once, as Kubernetes mounts a ConfigMap', async () => {
  await mkdir(join(folder, '..data'));
  for (const name of ['b.yaml', 'a.json', 'notes.txt']) {
    await writeFile(join(folder, '..data', name), name);
    await symlink(join('..data', name), join(folder, name));
  }
  expect((await readSources([folder])).map(({ text }) => text)).toEqual(['a.json', 'b.yaml']);
});

it('names a file that a link has lost', async () => {
  await symlink('nowhere', join(folder, 'a.yaml'));
  await expect(readSources([folder])).rejects.toMatchObject({
    code: 'FileUnreadable',
    message: `${join(folder, 'a.yaml')}: cannot read this manifest: there is no such file`,
  });
});
