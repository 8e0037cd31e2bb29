// A press on a number tells how it is computed.

import { accessibilityFindings, expect, findingsInBothColours, test } from './fixture.mjs';
import { choosePolicy, headlineBytes, kernelButton, picker, policyChoice, result, slider } from './visitor.mjs';

const table = (page) => page.getByRole('group', { name: 'Table of kernels' });
const explanation = (page, name) => page.getByRole('dialog', { name });
/** A number of the row of a kernel, from left to right. */
const numberOf = (page, kernel, place) => table(page).getByRole('row', { name: new RegExp(`^kernel ${kernel}:`) }).locator('.explains').nth(place);
/** The digits behind the number that is explained. */
const exactBytes = async (card) => Number((await card.locator('.explanation-value').innerText()).match(/= ([\d,]+) B/)[1].replaceAll(',', ''));

test.beforeEach(async ({ open }) => { await open(); });

test('a number of the headline is explained beside it, another one takes its place, and the same one ends it', async ({ page }) => {
  const fused = result(page).getByRole('button', { name: '1.96 GB' });
  await fused.click();
  const card = explanation(page, 'memory traffic, fused');
  await expect(card).toBeInViewport({ ratio: 1 });
  await expect(card).toContainText('1.96 GB = 1,962,934,272 B');
  await expect(card).toContainText('kernel 3: softmax');
  await expect(card).toContainText('Inputs and weights count as declared');
  await expect(card).toContainText('compulsory traffic');
  expect(await accessibilityFindings(page)).toEqual([]);
  await result(page).getByRole('button', { name: '14.6 %' }).click();
  await expect(explanation(page, 'change in memory traffic')).toContainText('336 MB saved / 2.30 GB unfused');
  await expect(card).toHaveCount(0);
  await result(page).getByRole('button', { name: '14.6 %' }).click();
  await expect(page.getByRole('dialog')).toHaveCount(0);
});

test('a table of numbers: elsewhere the row selects its kernel, arrow keys lead from number to number, and Escape returns', async ({ page }) => {
  const card = explanation(page, 'FLOPs');
  await test.step('by pointer', async () => {
    await numberOf(page, 3, 0).click();
    await expect(card).toContainText('kernel 3: softmax');
    await expect(card).toContainText('5 for each × 134,217,728 input elements');
    await expect(card).toBeInViewport({ ratio: 1 });
    await expect(kernelButton(page, 3)).toHaveAttribute('aria-pressed', 'false');
    await table(page).getByRole('cell', { name: 'softmax', exact: true }).click();
    await expect(card).toHaveCount(0);
    await expect(kernelButton(page, 3)).toHaveAttribute('aria-pressed', 'true');
    // Escape ends the explanation first, then the selection.
    await numberOf(page, 3, 0).click();
    await page.keyboard.press('Escape');
    await expect(card).toHaveCount(0);
    await expect(kernelButton(page, 3)).toHaveAttribute('aria-pressed', 'true');
    await page.keyboard.press('Escape');
    await expect(kernelButton(page, 3)).toHaveAttribute('aria-pressed', 'false');
  });
  await test.step('by keys', async () => {
    const stops = table(page).locator('.explains[tabindex="0"]');
    await expect(stops).toHaveCount(1);
    await numberOf(page, 1, 0).focus();
    await table(page).getByRole('row', { name: /total/ }).locator('.explains').nth(2).focus();
    await page.keyboard.press('ArrowUp');
    await expect(numberOf(page, 9, 2)).toBeFocused();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowUp');
    await expect(numberOf(page, 8, 3)).toBeFocused();
    await page.keyboard.press('End');
    await page.keyboard.press('Home');
    await expect(numberOf(page, 8, 0)).toBeFocused();
    await expect(stops).toHaveCount(1);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Shift+Tab');
    await expect(numberOf(page, 8, 0)).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(card).toBeFocused();
    await expect(card).toContainText('kernel 8');
    await page.keyboard.press('Tab');
    await expect(card.getByRole('button', { name: 'Close' })).toBeFocused();
    await page.keyboard.press('Escape');
    await expect(card).toHaveCount(0);
    await expect(numberOf(page, 8, 0)).toBeFocused();
  });
});

test('an explanation follows a slider, and ends with its kernel', async ({ page }) => {
  await result(page).getByRole('button', { name: '1.96 GB' }).click();
  const card = explanation(page, 'memory traffic, fused');
  const handle = slider(page, 'S');
  // The card covers the sliders, which the keyboard reaches below it.
  await handle.focus();
  for (let time = 0; time < 4; time += 1) {
    await page.keyboard.press('ArrowRight');
    await expect.poll(async () => exactBytes(card)).toBe((await headlineBytes(page)).fused);
  }
  expect((await headlineBytes(page)).fused).toBeGreaterThan(1_962_934_272);
  // Without the focus in it, Escape leaves the focus where it is.
  await page.keyboard.press('Escape');
  await expect(card).toHaveCount(0);
  await expect(handle).toBeFocused();

  // By mouse, where the card leaves the sliders free.
  await result(page).getByRole('button', { name: /×$/ }).click();
  const ratio = explanation(page, 'speedup at best');
  const line = ratio.locator('.explanation-line');
  const before = await line.innerText();
  const { x, y, width, height } = await handle.boundingBox();
  await page.mouse.move(x + width * 0.2, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width * 0.5, y + height / 2, { steps: 4 });
  await expect(line).not.toHaveText(before);
  const times = await result(page).getByRole('button', { name: /ms$/ }).allInnerTexts();
  await expect(line).toHaveText(`= ${times[0]} unfused / ${times[1]} fused`);
  await page.mouse.up();
  await expect(ratio).toBeVisible();
  await numberOf(page, 3, 5).click();
  await expect(explanation(page, 'arithmetic intensity')).toContainText('kernel 3: softmax');
  // Under another policy no kernel begins with this op.
  await policyChoice(page, 'optimal').evaluate((choice) => choice.click());
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect.poll(() => page.evaluate(() => document.activeElement !== document.body)).toBe(true);
});

test('numbers of other tabs, of a card, of memory, tensors and the pinned state explain themselves', async ({ page }) => {
  await test.step('a policy', async () => {
    await page.getByRole('tab', { name: 'Compare', exact: true }).click();
    const policies = page.getByRole('group', { name: 'Table of policies' });
    await policies.getByRole('row', { name: /^no fusion/ }).locator('.explains').nth(1).click();
    await expect(explanation(page, 'memory traffic, no fusion')).toContainText('the whole program (no fusion)');
    await expect(policies.locator('.explains[tabindex="0"]')).toHaveCount(1);
    // The tab of the number is closed by the keyboard.
    await page.getByRole('tab', { name: 'Compare', exact: true }).focus();
    await page.keyboard.press('ArrowLeft');
    await expect(page.getByRole('dialog')).toHaveCount(0);
  });

  await test.step('a card', async () => {
    await page.getByRole('region', { name: 'Graph' }).getByRole('button', { name: /^kernel 1 of/ }).focus();
    await page.keyboard.press('Enter');
    const card = page.getByRole('region', { name: 'kernel 1: qkv_proj + split_heads' });
    await card.getByRole('button', { name: 'matrix units' }).click();
    await expect(explanation(page, 'bottleneck')).toContainText('206 GFLOP / 312 TFLOP/s');
    await expect(explanation(page, 'bottleneck')).toContainText('openxla/xla');
    await page.keyboard.press('Escape');
    await expect(card).toBeVisible();
    await page.keyboard.press('Escape');
  });

  await test.step('limits and memory', async () => {
    await page.getByRole('tab', { name: 'Limits', exact: true }).click();
    const limits = page.getByRole('group', { name: 'Limits of the kernels' });
    const row = limits.getByRole('row', { name: /^limits of kernel 3: softmax/ });
    await expect(limits.locator('.explains[tabindex="0"]')).toHaveCount(1);
    await row.locator('.explains').nth(2).click();
    const registers = explanation(page, 'registers per thread');
    await expect(registers).toContainText('live values × elements per thread + tensors × 2');
    await expect(registers).toContainText('8 elements per thread');
    await expect(registers).toContainText('A thread can have 255');
    await row.locator('.explains').nth(3).click();
    await expect(explanation(page, 'occupancy')).toContainText('by registers');
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Escape');
    await expect(row.locator('.explains').nth(3)).toBeFocused();
    await page.keyboard.press('ArrowRight');
    await expect(row.locator('.explains').nth(4)).toBeFocused();
    await page.getByText(/^Memory: /).locator('.explains').nth(1).click();
    await expect(explanation(page, 'device memory')).toContainText('85.1 GB');
  });

  await test.step('the tensors of a kernel', async () => {
    await page.getByRole('tab', { name: 'Kernels', exact: true }).click();
    await kernelButton(page, 4).click();
    const tensors = page.getByRole('group', { name: 'Tensors of this kernel' });
    await tensors.locator('.vanished .explains').first().click();
    const saved = explanation(page, 'bytes that fusion saves');
    await expect(saved).toContainText('attn_out in kernel 4: attn_output + concat_heads');
    await expect(saved.locator('.explanation-line').first()).toContainText('as separate kernels');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
  });

  await test.step('the pinned state', async () => {
    await choosePolicy(page, 'manual');
    await page.getByRole('button', { name: 'Pin', exact: true }).click();
    // Its line moves the policies down.
    const pinned = page.getByRole('group', { name: 'Pinned state' });
    await expect(pinned).toBeVisible();
    await choosePolicy(page, 'rules');
    await pinned.getByRole('button', { name: '2.30 GB' }).click();
    await expect(explanation(page, 'memory traffic, fused')).toContainText('the pinned state, the whole program');
    await pinned.getByRole('button', { name: '14.6 %' }).click();
    const change = explanation(page, 'memory traffic, fused, relative to the pinned state');
    await expect(change.locator('.explanation-line').first()).toHaveText('= 336 MB saved / 2.30 GB pinned');
    await page.keyboard.press('Escape');
    await slider(page, 'S').focus();
    await page.keyboard.press('ArrowRight');
    await numberOf(page, 3, 8).click();
    await expect(page.getByRole('dialog', { name: /relative to the pinned state$/ })).toContainText('kernel 3: softmax');
    // Unpinned, there is nothing to explain.
    await page.keyboard.press('Escape');
    await pinned.getByRole('button', { name: /^\+.* %$/ }).first().click();
    await expect(page.getByRole('dialog')).toBeVisible();
    await page.keyboard.press('Escape');
    await pinned.getByRole('button', { name: 'Unpin' }).click();
    await expect(page.getByRole('dialog')).toHaveCount(0);
    await expect(result(page)).toBeVisible();
  });

  await test.step('a predicted time', async () => {
    await picker(page, 'GPU').selectOption('h200');
    await numberOf(page, 1, 7).click();
    const card = explanation(page, 'predicted time, fused');
    await expect(card).toContainText("tiles of the library's matmul");
    await expect(card).toContainText('Rates measured on an H200 (PyTorch 2.11');
    await result(page).getByRole('button', { name: /^±\d+ %$/ }).click();
    await expect(explanation(page, 'error of predictions')).toContainText(/nine of ten within [\d.]+ %/);
    await expect(explanation(page, 'error of predictions')).toContainText('the tab Measured lists');
  });
});

test('on a phone it is a sheet in sight, beside its number', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  for (const number of [result(page).getByRole('button', { name: '3.28 ms' }), numberOf(page, 4, 1)]) {
    await number.click();
    const card = page.getByRole('dialog');
    await expect(card).toBeInViewport({ ratio: 1 });
    const { x, y, width, height } = await card.boundingBox();
    expect([x, y + height, width]).toEqual([0, 844, 390]);
    expect(y).toBeGreaterThan(844 * 0.35);
    const at = await number.boundingBox();
    expect(at.y + at.height).toBeLessThanOrEqual(y);
    expect(await findingsInBothColours(page)).toEqual([]);
    await card.getByRole('button', { name: 'Close' }).click();
    await expect(card).toHaveCount(0);
    await expect(number).toBeFocused();
  }
});
