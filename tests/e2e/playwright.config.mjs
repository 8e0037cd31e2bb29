import { availableParallelism } from 'node:os';
import { defineConfig } from '@playwright/test';
import { args, executablePath } from './chromium.mjs';
import { launchOptions, whyLeftOut } from './firefox.mjs';

const firefoxLeftOut = whyLeftOut();

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
  reporter: [['list'], ['./slowest.mjs', { lastLine: firefoxLeftOut }]],
  use: {
    viewport: { width: 1366, height: 768 },
    actionTimeout: 30_000,
    screenshot: 'only-on-failure',
    trace: 'off',
    // offline.spec.mjs is about them. Elsewhere each test would fill a cache, and `page.route` sees
    // no request that it answers.
    serviceWorkers: 'block',
  },
  projects: [
    { name: 'chromium', use: { browserName: 'chromium', launchOptions: { executablePath, args } } },
    // What a browser can do in its own way: the start, typing and its storage, sliders and menus,
    // links, text measured in a picture, visits without a network. Numbers and sentences come from
    // one program, and are the same in both.
    {
      name: 'firefox',
      grep: /@firefox/,
      testIgnore: firefoxLeftOut ? '**' : [],
      use: { browserName: 'firefox', launchOptions },
    },
  ],
});
