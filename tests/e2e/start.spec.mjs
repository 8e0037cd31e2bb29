// The start: what a visitor sees while the program loads, and when it cannot.

import { accessibilityFindings, expect, test } from './fixture.mjs';

const help = (page) => page.getByText('Does this stay?');

/** Lets the five seconds pass after which the help is shown. */
async function expectHelp(page) {
  const delays = await help(page).evaluate((words) => words.getAnimations().map((animation) => {
    animation.finish();
    return animation.effect.getTiming().delay;
  }));
  expect(delays).toEqual([5000]);
  await expect(help(page)).toBeVisible();
}

test('while the program loads, the page says what loads and how far it is', { tag: '@firefox' }, async ({ page, site }) => {
  let send;
  const sent = new Promise((resolve) => { send = resolve; });
  await page.route('**/*.wasm', async (route) => {
    await sent;
    await route.continue();
  });
  await page.goto(site);
  await expect(page.getByRole('status')).toHaveText(/Loading the program/);
  await expect(page.getByRole('progressbar')).toBeVisible();
  expect(await accessibilityFindings(page)).toEqual([]);
  send();
  await expect(page.getByRole('textbox', { name: 'Operations as text' })).toBeVisible();
  await expect(page.getByRole('progressbar')).toHaveCount(0);
  await expect(help(page)).toHaveCount(0);
});

test('without its start script the page says what to do', async ({ page, site, problems }) => {
  await page.route('**/boot-*.js', (route) => route.fulfill({ status: 404 }));
  await page.goto(site);
  await expectHelp(page);
  problems.length = 0;
});

for (const kind of ['wasm', 'js']) {
  test(`after a new deployment the old page asks for a reload: no ${kind} file`, { tag: '@firefox' }, async ({ page, site, problems }) => {
    const files = kind === 'wasm' ? '**/*.wasm' : /\/fuseline-[^/]*\.js$/;
    await page.route(files, (route) => route.fulfill({ status: 404 }));
    await page.goto(site);
    await expect(page.getByRole('alert')).toContainText(/Fuseline did not start.*newer version was published.*Reload the page/);
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.unroute(files);
    await page.getByRole('button', { name: 'Reload' }).click();
    await expect(page.getByRole('textbox', { name: 'Operations as text' })).toBeVisible();
    problems.length = 0;
  });
}

// In Chromium alone: Playwright cannot switch off the scripts of a Firefox that it did not build.
test('where no script runs the page says what to do', async ({ browser, site }) => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(site);
  await expectHelp(page);
  await context.close();
});
