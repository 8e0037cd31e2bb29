// The memory timeline: tensors in DRAM while each kernel runs.

import { accessibilityFindings, commandLine, expect, findingsInBothColours, test } from './fixture.mjs';
import { chooseExample, chooseView, kernels, roofline, slider, timeline, write } from './visitor.mjs';

const marks = (region) => region.getByRole('button', { name: /^(?!Enlarge)/ });
const named = (page, name) => timeline(page).getByRole('button', { name });
/** The tensors in DRAM, by name: bars below the kernels. */
const inDram = (page) => timeline(page).evaluate((region) => {
  const strip = region.querySelector('.mark-kernel-box path').getBoundingClientRect().bottom;
  const bars = [...region.querySelectorAll('[role=button]:is(.mark-tensor-bar, .mark-input-bar, .mark-weight-bar)')];
  const below = bars.filter((bar) => bar.getBoundingClientRect().top > strip);
  return below.map((bar) => bar.getAttribute('aria-label').split(',')[0]).sort();
});

test.beforeEach(async ({ page, open }) => {
  await open();
  await expect(marks(timeline(page)).first()).toBeVisible();
});

test('its title is the peak of the command line, of what is shown, and follows a slider', async ({ page }) => {
  const heading = timeline(page).getByRole('heading', { level: 2 });
  await expect(heading).toHaveText('Peak 1.01 GB, 1.2 % of GPU memory');
  await expect(timeline(page)).toContainText('peak 1.01 GB');
  await chooseView(page, 'Unfused');
  await expect(heading).toHaveText('Peak 1.01 GB, 1.2 % of GPU memory');
  await chooseView(page, 'Fused');
  await slider(page, 'S').focus();
  await page.keyboard.press('PageUp');
  await expect(heading).not.toHaveText(/1\.01 GB/);
  await write(page, 'input x : f16[1024]\ny = relu(x)\n');
  await expect(heading).toHaveText('Peak memory 4.10 kB');
  expect(commandLine(['analyze', '-'], 'input x : f16[1024]\ny = relu(x)\n').peak_memory.fused_bytes).toBe(4096);
  await write(page, '');
  await expect(heading).toHaveText('Memory timeline');
});

test('what stays on chip is in DRAM before it is fused, and in its kernel after that', async ({ page }) => {
  await write(page, 'input x : f16[1024, 1024]\nweight w : f16[1024, 1024]\ny = matmul(x, w)\nz = relu(y)\nn = softmax(z)\n');
  await chooseView(page, 'Unfused');
  await expect.poll(() => inDram(page)).toEqual(['n', 'w', 'x', 'y', 'z']);
  await expect(named(page, /^y, 2\.10 MB, written by y, in DRAM until z$/)).toHaveCount(1);
  await chooseView(page, 'Fused');
  const groups = await kernels(page);
  const kept = groups.filter((ops) => ops.length > 1).flatMap((ops) => ops.slice(0, -1));
  expect(kept.length).toBeGreaterThan(0);
  await expect.poll(() => inDram(page)).toEqual(['n', 'w', 'x', 'y', 'z'].filter((name) => !kept.includes(name)));
  for (const name of kept) await expect(named(page, new RegExp(`^${name}, 2\\.10 MB, stays on chip in kernel \\d+$`))).toHaveCount(1);
});

test('a kernel and a tensor are selected in all views, and selected ones stand out', async ({ page }) => {
  await named(page, /^kernel 5:/).click();
  await expect(roofline(page).locator('[aria-pressed="true"]').first()).toBeVisible();
  await expect(page.locator('.inspector')).toContainText('out_proj + residual_add1');
  await expect(named(page, /^kernel 5:/)).toHaveAttribute('aria-pressed', 'true');
  await page.keyboard.press('Escape');
  await expect(timeline(page).locator('[aria-pressed="true"]')).toHaveCount(0);

  const scores = named(page, /^scores,/);
  await scores.focus();
  await page.keyboard.press('Enter');
  await expect(scores).toHaveAttribute('aria-pressed', 'true');
  await expect(page.locator('.inspector')).toContainText('scores');
  await expect(page.locator('.dag-edge.is-touched').first()).toBeAttached();
  // Its arrows and its bar, and no kernel.
  await expect(timeline(page).locator('.mark-load-arrow.is-selected, .mark-store-arrow.is-selected').first()).toBeAttached();
  await expect(timeline(page).locator('.mark-kernel-box.is-selected')).toHaveCount(0);
  await page.keyboard.press('Enter');
  await expect(scores).toHaveAttribute('aria-pressed', 'false');

  await named(page, /^w_qkv,/).click({ position: { x: 3, y: 2 } });
  await expect(page.locator('.inspector')).toContainText('w_qkv');
  await expect(named(page, /^w_qkv,/)).toHaveAttribute('aria-pressed', 'true');
});

test('keys go through kernels and tensors, and a tooltip tells the bytes', async ({ page }) => {
  const stop = timeline(page).locator('[tabindex="0"][role=button].chart-stop');
  await expect(stop).toHaveCount(1);
  await stop.focus();
  const focused = () => page.evaluate(() => document.activeElement.getAttribute('aria-label'));
  expect(await focused()).toMatch(/^kernel 1: .*, reads [\d.]+ MB, writes [\d.]+ MB, keeps on chip [\d.]+ MB, live memory \d+ MB$/);
  await page.keyboard.press('ArrowRight');
  expect(await focused()).toMatch(/^kernel 2:/);
  await page.keyboard.press('End');
  expect(await focused()).not.toMatch(/^kernel/);
  await expect(timeline(page).locator('.chart-tip')).toBeVisible();
  await expect(timeline(page).locator('.chart-tip')).toContainText(/[kMG]?B/);
  await page.keyboard.press('Escape');
  await expect(timeline(page).locator('.chart-tip')).toBeHidden();
});

test('it is accessible in both colours, on a phone, and large in a dialog from which it is saved', async ({ page }) => {
  expect(await findingsInBothColours(page, '[aria-labelledby=timeline-title]')).toEqual([]);
  await page.getByRole('button', { name: 'Enlarge: Memory timeline', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Memory timeline' });
  await expect(marks(dialog).first()).toBeVisible();
  const [saved] = await Promise.all([page.waitForEvent('download'), dialog.getByRole('button', { name: 'SVG' }).click()]);
  expect(saved.suggestedFilename()).toBe('fuseline-timeline.svg');
  await page.keyboard.press('Escape');
  await page.setViewportSize({ width: 390, height: 844 });
  const picture = timeline(page).locator('svg.chart');
  await picture.scrollIntoViewIfNeeded();
  expect((await picture.boundingBox()).width).toBeLessThan(390);
  expect(await accessibilityFindings(page, { within: '[aria-labelledby=timeline-title]' })).toEqual([]);
});

test('equal iterations are one, and a frame shows the timeline alone', async ({ page, site }) => {
  await chooseExample(page, 'GPT-2, all layers');
  await expect(named(page, /^11 more equal iterations,/)).toBeVisible();
  await expect(named(page, /, and 11 equal ones,/).first()).toBeVisible();
  await page.goto(`${site}?embed=timeline`);
  await expect(timeline(page)).toBeVisible();
  await expect(page.getByRole('region')).toHaveCount(1);
  expect(await accessibilityFindings(page)).toEqual([]);
});
