import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/e2e/**/*.test.ts'],
    globalSetup: ['test/controlplane/globalSetup.ts'],
    // Each file has a control plane of its own, which takes both cores while it starts.
    fileParallelism: false,
    // Stories that share a control plane wait more than they work.
    maxConcurrency: 40,
    testTimeout: 120_000,
    hookTimeout: 180_000,
  },
});
