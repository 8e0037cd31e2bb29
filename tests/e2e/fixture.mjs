// The page under test, served from dist/, and what must hold in every test: nothing on the console
// that is an error or a warning, no request to another host, no violation of the
// Content-Security-Policy.

import { test as base, expect } from '@playwright/test';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { serve } from './server.mjs';
import { SharedPage, openEmpty } from './shared_page.mjs';

export { expect };

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** The built command line, with which the page is compared. */
const FUSELINE = resolve(ROOT, process.env.FUSELINE ?? 'target/debug/fuseline');
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The document of a visitor who has been here: the transformer block of 14 ops, fused by the textbook rules, of which most tests speak. */
const DOCUMENT = {
  changed_ms: 1, // older than what a test writes
  example: 'transformer',
  is_own: false,
  choices: '',
  text: readFileSync(`${ROOT}public/examples/transformer.fuse`, 'utf8'),
};

/** Reports what goes wrong in a page of the site. */
async function watch(page, { origin }, report) {
  page.on('console', (message) => {
    const isOwn = message.text() === 'Service Worker registration blocked by Playwright';
    if (['error', 'warning'].includes(message.type()) && !isOwn) report(`console ${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => report(`uncaught: ${error.message}`));
  page.on('dialog', (dialog) => { report(`dialog: ${dialog.message()}`); void dialog.dismiss(); });
  page.context().on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !/^(data|blob):/.test(url)) report(`request to ${url}`);
  });
  page.context().on('response', (response) => {
    if (response.status() >= 400) report(`${response.status()} for ${response.url()}`);
  });
  await page.addInitScript(() => {
    try {
      // A visitor who has opened the program's text before. Tests of a first visit remove this.
      if (!location.search.includes('embed') && localStorage.getItem('fuseline.ops-open') === null) localStorage.setItem('fuseline.ops-open', 'true');
    } catch {
      // This document may not store anything.
    }
    addEventListener('securitypolicyviolation', (event) => {
      console.error(`policy violated: ${event.violatedDirective} by ${event.blockedURI || event.sourceFile}`);
    });
  });
}

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

  sharedPage: [async ({ site }, use) => {
    await use(new SharedPage((page, report) => watch(page, new URL(site), report)));
  }, { scope: 'worker' }],

  /** Has one page. It is a new context where a test chooses what a page has from its beginning, and in Firefox, where that takes no longer. */
  context: async ({ browser, browserName, site, sharedPage, problems, viewport, hasTouch, forcedColors, serviceWorkers }, use) => {
    const isShared = browserName === 'chromium' && !hasTouch && forcedColors !== 'active' && serviceWorkers === 'block';
    if (isShared) {
      const page = await sharedPage.take(browser, site, viewport);
      sharedPage.problems = problems;
      await use(page.context());
      return;
    }
    const context = await browser.newContext();
    await watch(await context.newPage(), new URL(site), (problem) => problems.push(problem));
    await use(context);
    await context.close();
  },

  page: async ({ context, problems }, use) => {
    await use(context.pages()[0]);
    expect(problems).toEqual([]);
  },

  /** Opens the page as a first visit does, optionally at a fragment, and waits until it has started. */
  visit: async ({ page, site }, use) => {
    await use(async (fragment = '') => {
      await page.goto(site + fragment);
      await page.waitForFunction(() => globalThis.wasmBindings !== undefined);
      await page.locator('main').waitFor();
      await expect(page.locator('#first-picture')).toHaveCount(0);
    });
  },

  /** Opens the page as a later visit does: with the stored document. */
  open: async ({ page, site, visit }, use) => {
    let isKnown = false;
    await use(async (fragment) => {
      if (!isKnown) {
        await openEmpty(page, site);
        await page.evaluate((json) => { localStorage.setItem('fuseline.document.known', json); }, JSON.stringify(DOCUMENT));
      }
      isKnown = true;
      await visit(fragment);
    });
  },
});

const ALL_RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Findings of axe-core on the page as it stands, or on a part of it, one line each. */
export async function accessibilityFindings(page, { within = 'html', rules = ALL_RULES } = {}) {
  if (!await page.evaluate(() => 'axe' in globalThis)) await page.evaluate(AXE);
  // Colours that change in steps have arrived.
  await page.evaluate(() => { for (const motion of document.getAnimations()) if (motion instanceof CSSTransition) motion.finish(); });
  const { violations } = await page.evaluate(([selector, runOnly]) => globalThis.axe.run(selector, {
    runOnly,
    resultTypes: ['violations'], // no details of what is well
  }), [within, rules]);
  return violations.flatMap(({ id, help, nodes }) => nodes.map((node) => `${id}: ${help}: ${node.target} ${node.failureSummary}`));
}

/** The same in light and in dark colours. What has nothing to do with colours is looked for once. */
export async function findingsInBothColours(page, within) {
  const light = await accessibilityFindings(page, { within });
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches)).toBe(true);
  const dark = await accessibilityFindings(page, { within, rules: ['color-contrast', 'link-in-text-block'] });
  await page.emulateMedia({ colorScheme: 'light' });
  return [...light, ...dark.map((finding) => `in dark colours: ${finding}`)];
}

/** What the command line says about a program, as JSON. */
export function commandLine(args, input) {
  if (!existsSync(FUSELINE)) throw new Error(`${FUSELINE} is missing: run \`cargo build\`, or set FUSELINE to the built program`);
  return JSON.parse(execFileSync(FUSELINE, [...args, '--json'], { input, encoding: 'utf8', maxBuffer: 1e9 }));
}
