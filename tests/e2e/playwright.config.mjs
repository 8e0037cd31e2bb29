import { availableParallelism } from 'node:os';
import { defineConfig } from '@playwright/test';
import { args, executablePath } from './chromium.mjs';

export default defineConfig({
  testDir: '.',
  testMatch: '*.spec.mjs',
  outputDir: 'results',
  workers: Math.min(4, availableParallelism()),
  retries: 0,
  forbidOnly: Boolean(process.env.CI),
  // For a machine that is busy with other work. A test that passes waits for none of these.
  timeout: 120_000,
  expect: { timeout: 20_000 },
  reporter: [['list']],
  use: {
    launchOptions: { executablePath, args },
    viewport: { width: 1366, height: 768 },
    actionTimeout: 30_000,
    screenshot: 'only-on-failure',
    trace: 'off',
  },
});
