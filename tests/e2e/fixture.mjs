// The page under test, served from dist/, and what must hold in every test: nothing on the console that is an error or a
// warning, no request to another host, no violation of the Content-Security-Policy.

import { test as base, expect } from '@playwright/test';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { serve } from './server.mjs';

export { expect };

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export const test = base.extend({
  /** Where dist/ is served: under a sub-path, as a page of somebody's site would be. */
  site: [async ({}, use) => {
    const { server, url } = await serve(`${ROOT}dist`, { base: '/some/folder/' });
    await use(url);
    server.close();
    server.closeAllConnections();
  }, { scope: 'worker' }],

  /** What went wrong in the browser so far; a test that provokes a message takes it out. */
  problems: async ({}, use) => { await use([]); },

  page: async ({ page, context, site, problems }, use) => {
    const { origin } = new URL(site);
    page.on('console', (message) => {
      const isOwn = message.text() === 'Service Worker registration blocked by Playwright';
      if (['error', 'warning'].includes(message.type()) && !isOwn) problems.push(`console ${message.type()}: ${message.text()}`);
    });
    page.on('pageerror', (error) => problems.push(`uncaught: ${error.message}`));
    page.on('dialog', (dialog) => { problems.push(`dialog: ${dialog.message()}`); void dialog.dismiss(); });
    context.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(`${origin}/`) && !/^(data|blob):/.test(url)) problems.push(`request to ${url}`);
    });
    context.on('response', (response) => {
      if (response.status() >= 400) problems.push(`${response.status()} for ${response.url()}`);
    });
    await page.addInitScript(() => {
      addEventListener('securitypolicyviolation', (event) => {
        console.error(`policy violated: ${event.violatedDirective} by ${event.blockedURI || event.sourceFile}`);
      });
    });
    await use(page);
    expect(problems).toEqual([]);
  },

  /** Opens the page, optionally at a fragment, and waits until it has started. */
  open: async ({ page, site }, use) => {
    await use(async (fragment = '') => {
      await page.goto(site + fragment);
      await page.waitForFunction(() => globalThis.wasmBindings !== undefined);
      await page.locator('main').waitFor();
    });
  },
});

/** Findings of axe-core on the page as it stands, one line each. */
export async function accessibilityFindings(page) {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, {
    runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  }));
  return violations.flatMap(({ id, help, nodes }) => nodes.map((node) => `${id}: ${help}: ${node.target} ${node.failureSummary}`));
}

/** What the command line says about a program, as JSON. */
export function commandLine(args, input) {
  const command = ['run', '--quiet', '--locked', '--', ...args, '--json'];
  return JSON.parse(execFileSync('cargo', command, { cwd: ROOT, input, encoding: 'utf8', maxBuffer: 1e9 }));
}
