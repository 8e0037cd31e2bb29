import { availableParallelism } from 'node:os';
import { defineConfig } from '@playwright/test';
import { args, executablePath } from './chromium.mjs';
import { launchOptions } from './firefox.mjs';

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
  reporter: [['list'], ['./slowest.mjs']],
  use: {
    viewport: { width: 1366, height: 768 },
    actionTimeout: 30_000,
    screenshot: 'only-on-failure',
    trace: 'off',
    // offline.spec.mjs is about them. Elsewhere each test would fill a cache, and `page.route` sees no request that it answers.
    serviceWorkers: 'block',
  },
  projects: [
    { name: 'chromium', use: { browserName: 'chromium', launchOptions: { executablePath, args } } },
    // A half that tells: the start, the text and its storage, sliders and menus, the graph and its cards, links, visits without a
    // network. The rest would double the time of the tests, or needs the protocol of Chromium.
    {
      name: 'firefox',
      testMatch: /(?:inspector|install|numbers|offline|share|start)\.spec\.mjs$/,
      use: { browserName: 'firefox', launchOptions },
    },
  ],
});
