// The rates of a GPU, as the probe of a script saves them, dropped on the page.

import { accessibilityFindings, expect, test } from './fixture.mjs';
import { drop, editor, notice, picker, sharedLink, write } from './visitor.mjs';

const COPY = 'input a : bf16[65536, 8192]\ny = relu(a)\n';
const PROBE = {
  name: 'Moore Threads S4000',
  measured_on: '2026-11-20',
  measured_with: 'PyTorch 2.11.0',
  memory_bytes_per_s: 1e12,
  matrix_f16_flops_per_s: 1e14,
  vector_flops_per_s: 2e13,
  exp_per_s: 1e12,
  kernel_s: 4e-6,
  multiprocessors: 56,
  memory_bytes: 48e9,
  l2_bytes: 24e6,
};
const TITLE = 'Moore Threads S4000 (2026-11-20, PyTorch 2.11.0)';

const chosen = (page) => picker(page, 'GPU').locator('option:checked');
const dropDevice = (page, probe) => drop(page, 'device.json', JSON.stringify({ device: probe, torch: '2.11.0' }));

test('a measured GPU is a device of the picker, outlives a reload, travels in links and can be removed', async ({ page, open, browser }) => {
  await open();
  await write(page, COPY);
  await dropDevice(page, PROBE);
  await expect(notice(page)).toContainText(`The GPU is now ${TITLE}`);
  await expect(chosen(page)).toHaveText(TITLE);
  // 2.15 GB at 1 TB/s and a launch of 4 µs.
  const headline = page.locator('.headline');
  await expect(headline).toContainText('predicted');
  await expect(headline).toContainText('2.15 ms');
  await expect(editor(page)).toHaveValue(COPY);

  await page.locator('summary').filter({ hasText: 'Model' }).click();
  await expect(page.locator('.figures')).toContainText('the table of devices lacks this GPU; measured on 2026-11-20 with PyTorch 2.11.0');
  expect(await accessibilityFindings(page)).toEqual([]);
  await page.keyboard.press('Escape');

  await page.reload();
  await expect(chosen(page)).toHaveText(TITLE);
  await expect(headline).toContainText('2.15 ms');
  // Another choice leaves it in the list.
  await picker(page, 'GPU').selectOption({ label: 'H200' });
  await expect(headline).not.toContainText('Moore Threads');
  await picker(page, 'GPU').selectOption({ label: TITLE });
  await expect(headline).toContainText('2.15 ms');

  const other = await (await browser.newContext()).newPage();
  await other.goto(await sharedLink(page));
  await expect(chosen(other)).toHaveText(TITLE);
  await expect(other.locator('.headline')).toContainText('2.15 ms');
  await picker(other, 'GPU').selectOption({ label: 'H200' });
  await expect(picker(other, 'GPU').locator('option', { hasText: TITLE })).toHaveCount(1);
  await other.context().close();

  await page.locator('summary').filter({ hasText: 'Model' }).click();
  await page.getByRole('button', { name: 'Remove this GPU from the list' }).click();
  await expect(picker(page, 'GPU').locator('option', { hasText: 'Moore Threads' })).toHaveCount(0);
  await expect(chosen(page)).toHaveText('A100 SXM 80GB');
});

test('rates that cannot be are told and change nothing', async ({ page, open }) => {
  await open();
  await write(page, COPY);
  for (const [changes, said] of [
    [{ kernel_s: 0 }, 'device.kernel_s is 0e0, and must be from 1e-8 to 1e-2'],
    [{ measured_on: '2199-01-01' }, 'device.measured_on is 2199-01-01, and today is'],
  ]) {
    await dropDevice(page, { ...PROBE, ...changes });
    await expect(notice(page)).toContainText(said);
    await expect(chosen(page)).toHaveText('A100 SXM 80GB');
  }
  await expect(editor(page)).toHaveValue(COPY);
});
