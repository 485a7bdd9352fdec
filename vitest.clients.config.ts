import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/clients/**/*.test.ts'],
    // Each file has a world of its own, and waits for its clients and clusters more than it works.
    maxWorkers: 2,
    testTimeout: 600_000,
    hookTimeout: 180_000,
  },
});
