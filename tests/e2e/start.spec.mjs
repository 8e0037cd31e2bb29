// The start: what a visitor sees while the program loads, when it cannot, and what a first visit
// and an example open with.

import { accessibilityFindings, expect, test } from './fixture.mjs';
import { chooseExample, choosePolicy, chooseView, editor, headlineBytes, kernels, picker, policyChoice, stored, untilStored, viewSwitch, withhold } from './visitor.mjs';

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
  const send = await withhold(page, '**/*.wasm');
  await page.goto(site);
  await expect(page.getByRole('status')).toHaveText(/Loading the program/);
  await expect(page.getByRole('progressbar')).toBeVisible();
  expect(await accessibilityFindings(page)).toEqual([]);
  send();
  await expect(page.getByRole('textbox', { name: 'Operations as text' })).toBeVisible();
  await expect(page.getByRole('progressbar')).toHaveCount(0);
  await expect(help(page)).toHaveCount(0);
});

test('what has come of the program is told in megabytes of what is sent', { tag: '@firefox' }, async ({ page, site }) => {
  await page.addInitScript(() => {
    globalThis.told = [];
    new MutationObserver(() => {
      const text = document.querySelector('#loading-state')?.textContent;
      if (text && text !== globalThis.told.at(-1)) globalThis.told.push(text);
    }).observe(document, { childList: true, subtree: true, characterData: true });
  });
  const response = page.waitForResponse(/\.wasm$/);
  await page.goto(site);
  // What the browser keeps from before comes without its length.
  const { 'accept-encoding': accepted } = await (await response).request().allHeaders();
  const { headers } = await fetch((await response).url(), { method: 'HEAD', headers: { 'Accept-Encoding': accepted } });
  const sent = Number(headers.get('content-length'));
  await expect(page.getByRole('textbox', { name: 'Operations as text' })).toBeVisible();
  const told = await page.evaluate(() => globalThis.told);
  const whole = (sent / 1e6).toFixed(1);
  const loaded = told.map((text) => text.match(/^Loading ([\d.]+) of ([\d.]+) MB$/)).filter(Boolean);
  expect(new Set(loaded.map(([, , all]) => all))).toEqual(new Set([whole]));
  const parts = loaded.map(([, part]) => Number(part));
  expect(parts).toEqual([...new Set(parts)].sort((before, after) => before - after));
  expect(parts.at(-1)).toBe(Number(whole));
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

test('a first visit opens a small program before anything is fused, and a later one what was left', { tag: '@firefox' }, async ({ page, visit }) => {
  await visit();
  await expect(picker(page, 'Example')).toHaveValue('residual_layer');
  await expect(policyChoice(page, 'none')).toBeChecked();
  await expect(viewSwitch(page, 'Unfused')).toBeChecked();
  await expect.poll(() => kernels(page)).toEqual([['linear', 'bias', 'act', 'output']]);
  const { unfused, fused } = await headlineBytes(page);
  expect(fused).toBeLessThan(unfused / 4);
  await untilStored(page, 'view=unfused');
  await page.reload();
  await expect(viewSwitch(page, 'Unfused')).toBeChecked();
  await chooseView(page, 'Fused');
  await expect.poll(async () => JSON.stringify(await stored(page, 'document.'))).not.toContain('view=unfused');
  await page.reload();
  await expect(picker(page, 'Example')).toHaveValue('residual_layer');
  await expect(viewSwitch(page, 'Fused')).toBeChecked();
});

test('an example opens with its choices, and undo brings back those from before', async ({ page, visit }) => {
  await visit();
  const state = async () => [
    await picker(page, 'Example').inputValue(), await page.locator('.policies input:checked').inputValue(), await viewSwitch(page, 'Fused').isChecked(),
  ];
  const undo = page.getByRole('button', { name: 'Undo', exact: true });
  await picker(page, 'GPU').selectOption('h200');
  await choosePolicy(page, 'optimal');
  await chooseExample(page, 'Transformer block');
  expect(await state()).toEqual(['transformer_block', 'inductor', true]);
  // Attention is one kernel.
  await expect.poll(() => kernels(page)).toContainEqual(['scores', 'scaled', 'probs', 'mixed', 'by_token', 'merged']);
  await expect(picker(page, 'GPU')).toHaveValue('h200');

  await chooseExample(page, 'Attention');
  expect(await state()).toEqual(['attention', 'rules', true]);
  await expect.poll(() => kernels(page)).toHaveLength(4);
  await undo.click();
  expect(await state()).toEqual(['transformer_block', 'inductor', true]);
  await expect.poll(() => kernels(page)).toHaveLength(10);
  await undo.click();
  // A choice of the policy shows its kernels.
  expect(await state()).toEqual(['residual_layer', 'optimal', true]);
  await expect(picker(page, 'GPU')).toHaveValue('h200');
  await page.getByRole('button', { name: 'Redo', exact: true }).click();
  expect(await state()).toEqual(['transformer_block', 'inductor', true]);
  await expect(editor(page)).toHaveValue(/k_t +=/);
});

test('the transformer block says which policy it opens with', async ({ page, visit }) => {
  await visit();
  await page.getByRole('button', { name: 'Fuse', exact: true }).click();
  await page.getByRole('button', { name: 'Next: Transformer block', exact: true }).click();
  await expect(policyChoice(page, 'inductor')).toBeChecked();
  await expect(page.locator('.strip')).toContainText('What to watch: In f16, torch.compile keeps attention scores');
});

test('Fuse moves nothing, leaves no mark of the focus after a press, and gives it to the graph after a key', async ({ page, visit }) => {
  const place = () => page.locator('.workbench').boundingBox();
  const fuse = page.getByRole('button', { name: 'Fuse', exact: true });
  await page.setViewportSize({ width: 1366, height: 768 });
  await visit();
  const before = await place();
  await fuse.click();
  await expect(viewSwitch(page, 'Fused')).toBeChecked();
  await expect(policyChoice(page, 'rules')).toBeChecked();
  await expect(page.locator('.claim')).toHaveText(/turns 4 kernels into 1 and saves 77\.2 %/);
  expect(await place()).toEqual(before);
  await expect(page.locator('.dag:focus-visible')).toHaveCount(0);
  await chooseView(page, 'Unfused');
  await expect(policyChoice(page, 'none')).toBeChecked();
  await fuse.press('Enter');
  await expect(page.locator('.dag:focus-visible')).toHaveCount(1);
  await expect(policyChoice(page, 'rules')).toBeChecked();
});

for (const [width, height] of [[390, 844], [1366, 768], [1920, 1080]]) {
  test(`each menu opens inside of the window: ${width} px`, async ({ page, open }) => {
    await page.setViewportSize({ width, height });
    await open();
    const menus = page.locator('details.menu > summary');
    await expect(menus).toHaveCount(6);
    for (const menu of await menus.all()) {
      await menu.click();
      const panel = page.locator('.menu-panel');
      const { x, width: wide } = await panel.boundingBox();
      expect(x, await menu.textContent()).toBeGreaterThanOrEqual(0);
      expect(x + wide, await menu.textContent()).toBeLessThanOrEqual(width);
      await page.keyboard.press('Escape');
      await expect(panel).toHaveCount(0);
    }
  });
}
