import { defineConfig } from '@playwright/test';
import { args, executablePath } from './chromium.mjs';

export default defineConfig({
  testDir: '.',
  testMatch: '*.spec.mjs',
  outputDir: 'results',
  workers: 1,
  retries: 0,
  forbidOnly: Boolean(process.env.CI),
  timeout: 60_000,
  expect: { timeout: 10_000 },
  reporter: [['list']],
  use: {
    launchOptions: { executablePath, args },
    viewport: { width: 1366, height: 768 },
    actionTimeout: 15_000,
    screenshot: 'only-on-failure',
    trace: 'off',
  },
});
