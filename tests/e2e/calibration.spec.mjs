// Records of fused patterns, as `fuseline calibrate --json` writes them, dropped on the page.

import { readFileSync } from 'node:fs';
import { accessibilityFindings, expect, test } from './fixture.mjs';
import { choosePolicy, drop, editor, kernels, notice, write } from './visitor.mjs';

const RECORDS = JSON.parse(readFileSync(new URL('../../public/measured/h200_fusion.json', import.meta.url), 'utf8'));
const ADD_RELU = 'input a : bf16[8192, 8192]\ninput b : bf16[8192, 8192]\ns = add(a, b)\ny = relu(s)\n';

const options = (page) => page.locator('summary').filter({ hasText: 'Options' });
const expectKernels = (page, count) => expect.poll(async () => (await kernels(page)).length).toBe(count);

test('records of a visitor decide what is one kernel in measured time', async ({ page, open }) => {
  await open();
  await write(page, ADD_RELU);
  await choosePolicy(page, 'optimal');
  await options(page).click();
  await page.getByRole('radio', { name: 'measured time' }).check();
  await expect(page.locator('.speedup')).toContainText('No patterns were measured on A100 SXM 80GB');
  expect(await accessibilityFindings(page)).toEqual([]);
  await expectKernels(page, 1);
  const patterns = RECORDS.patterns.map((record) => ({ ...record, speedup_factor: 1.1 }));
  await drop(page, 'records.json', JSON.stringify({ ...RECORDS, device: 'My GPU', patterns }));
  await expect(notice(page)).toContainText('208 runs of fused patterns on My GPU decide');
  await expectKernels(page, 2);
  await expect(page.locator('.speedup')).toContainText('measured on My GPU');
  await page.getByRole('button', { name: "Use the GPU's own records" }).click();
  await expectKernels(page, 1);
  // Nothing of the visitor's is lost.
  await expect(editor(page)).toHaveValue(ADD_RELU);
});

test('records that cannot be are told with their place, and change nothing', async ({ page, open }) => {
  await open();
  await write(page, ADD_RELU);
  const patterns = RECORDS.patterns.map((record, at) => ({ ...record, speedup_factor: at === 3 ? 0 : 1.5 }));
  await drop(page, 'records.json', JSON.stringify({ ...RECORDS, patterns }));
  await expect(notice(page)).toContainText('patterns[3]: speedup_factor must be above 0');
  await expect(editor(page)).toHaveValue(ADD_RELU);
});
