import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/clients/**/*.test.ts'],
    // One world and one client at a time.
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 180_000,
  },
});
