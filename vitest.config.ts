import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['test/e2e/**', 'test/clients/**', 'test/browser/**', '**/node_modules/**'],
    setupFiles: ['test/propertySeed.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Two workers: the reference machine has two cores, and the local servers of a test are busy too.
    maxWorkers: 2,
  },
});
