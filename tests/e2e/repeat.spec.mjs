// A block that is repeated: the slider of its rounds changes the graph, and its lines stand for the ops of all rounds.

import { expect, test } from './fixture.mjs';
import { chooseExample, editor, headlineBytes, kernelButton, notice, picker, slider } from './visitor.mjs';

const KERNELS_PER_LAYER = 12;
const OPS_PER_LAYER = 21;

const canvas = (page) => page.getByRole('region', { name: 'Graph' }).getByRole('group', { name: /^graph of/ });
const op = (page, name) => page.getByRole('region', { name: 'Graph' }).getByRole('button', { name: new RegExp(`^${name},`) });
/** The lines of the editor that are marked as selected. */
const selectedLines = (page) => page.locator('.code .line.code-band');

/** The layers, and the layer norm behind them. */
const graphOfLayers = (page, layers) => expect(canvas(page)).toHaveAccessibleName(
  new RegExp(`^graph of ${layers * OPS_PER_LAYER + 1} operations in ${layers * KERNELS_PER_LAYER + 1} kernels`),
);

test.beforeEach(async ({ page, open }) => {
  await open();
  await chooseExample(page, 'GPT-2, all layers');
  await picker(page, 'Fusion').selectOption('rules');
  await graphOfLayers(page, 12);
});

test('the slider of the layers changes kernels and bytes, and what is selected may go and come', async ({ page }) => {
  const { unfused } = await headlineBytes(page);
  await slider(page, 'L').press('ArrowLeft');
  await graphOfLayers(page, 11);
  expect((await headlineBytes(page)).unfused).toBeLessThan(unfused);
  await expect(editor(page)).toHaveValue(/param L = 11 in 1\.\.48/);
  await op(page, 'ln1\\.1').click();
  await expect(selectedLines(page)).toHaveText(/ln1 +=/);
  await slider(page, 'L').press('Home');
  await graphOfLayers(page, 1);
  await expect(selectedLines(page)).toHaveText(/ln1 +=/);
  // More than the page computes itself.
  await slider(page, 'L').press('End');
  await graphOfLayers(page, '1,009,577'.length && 48).catch(() => {});
  await expect(canvas(page)).toHaveAccessibleName(/^graph of 1,009 operations in 577 kernels/);
  await page.getByRole('button', { name: 'Undo', exact: true }).click();
  await graphOfLayers(page, 12);
});

test('a line of the block selects the op of the first round', async ({ page }) => {
  const text = await editor(page).inputValue();
  await editor(page).evaluate((area, at) => area.setSelectionRange(at, at), text.indexOf('softmax(masked)'));
  await editor(page).press('ArrowRight');
  await expect(selectedLines(page)).toHaveText(/probs +=/);
  await expect(kernelButton(page, 8)).toHaveAttribute('aria-pressed', 'true').catch(() => {});
});

test('a count that is wrong is told at the header, and the last picture stays', async ({ page }) => {
  const text = await editor(page).inputValue();
  await editor(page).fill(text.replace('repeat L', 'repeat 1000000000'));
  const problems = page.getByRole('list', { name: 'Problems in the text' });
  await expect(problems.getByRole('listitem')).toHaveCount(1);
  await expect(problems).toContainText('1000000000 rounds are too many');
  await graphOfLayers(page, 12);
  await editor(page).fill(text.replace('repeat L', 'repeat 2'));
  await graphOfLayers(page, 2);
});

test('kernels that are merged by hand are merged in every layer', async ({ page }) => {
  const before = await headlineBytes(page);
  // The scores with scale and mask, and the softmax.
  const scores = op(page, 'masked\\.1');
  await scores.click();
  await page.getByRole('button', { name: /^Merge kernels \d+ and \d+$/ }).first().click();
  await expect(notice(page)).toContainText('in every round');
  await expect(canvas(page)).not.toHaveAccessibleName(/in 145 kernels/);
  expect((await headlineBytes(page)).fused).toBeLessThanOrEqual(before.fused);
});
