// A block that is repeated: the slider of its rounds changes the graph, and its lines stand for the
// ops of all rounds.

import { expect, test } from './fixture.mjs';
import { chooseExample, choosePolicy, editor, grouped, headlineBytes, notice, problemList, slider } from './visitor.mjs';

const KERNELS_PER_LAYER = 12;
const OPS_PER_LAYER = 21;

const canvas = (page) => page.getByRole('region', { name: 'Graph' }).getByRole('group', { name: /^graph of/ });
const op = (page, name) => page.getByRole('region', { name: 'Graph' }).getByRole('button', { name: new RegExp(`^${name},`) });
/** The lines of the editor that are marked as selected. */
const selectedLines = (page) => page.locator('.code .line.code-band');

/** The layers, and the layer norm behind them. */
const graphOfLayers = (page, layers) => expect(canvas(page)).toHaveAccessibleName(
  new RegExp(`^graph of ${grouped(layers * OPS_PER_LAYER + 1)} operations in ${grouped(layers * KERNELS_PER_LAYER + 1)} kernels`),
);

test.beforeEach(async ({ page, open }) => {
  await open();
  await chooseExample(page, 'GPT-2, all layers');
  await choosePolicy(page, 'rules');
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
  await slider(page, 'L').press('End');
  await graphOfLayers(page, 48);
  await expect(selectedLines(page)).toHaveText(/ln1 +=/);
});

test('a line selects the op of the first round, and an op of any round its line and its row', async ({ page }) => {
  const text = await editor(page).inputValue();
  await editor(page).evaluate((area, at) => area.setSelectionRange(at, at), text.indexOf('softmax(masked)'));
  await editor(page).press('ArrowRight');
  await expect(selectedLines(page)).toHaveText(/probs +=/);
  await expect(op(page, 'probs\\.1')).toHaveClass(/is-selected/);
  // The op of the last round goes with its round. By itself it is drawn by its equal.
  await page.getByRole('button', { name: 'Unfold', exact: true }).click();
  await op(page, 'probs\\.1').focus();
  await page.keyboard.press('End');
  await expect(op(page, 'final')).toBeFocused();
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await expect(selectedLines(page)).toHaveText(/y += add/);
  await page.getByRole('tab', { name: 'Table' }).click();
  const row = page.getByRole('table', { name: 'Operations as a table' }).locator('tr.is-selected');
  await expect(row).toHaveCount(1);
  await slider(page, 'L').press('ArrowLeft');
  await graphOfLayers(page, 11);
  await expect(row).toHaveCount(0);
});

test('a count that is wrong is told at the header, and the last picture stays', async ({ page }) => {
  const text = await editor(page).inputValue();
  await editor(page).fill(text.replace('repeat L', 'repeat 1000000000'));
  await expect(problemList(page).getByRole('listitem')).toHaveCount(1);
  await expect(problemList(page)).toContainText('1000000000 iterations are too many');
  await graphOfLayers(page, 12);
  await editor(page).fill(text.replace('repeat L', 'repeat 2'));
  await graphOfLayers(page, 2);
});

test('a kernel that is cut by hand is cut in every layer', async ({ page }) => {
  await op(page, 'masked\\.1').focus();
  await page.keyboard.press('x');
  await expect(page.locator('.dag-status')).toContainText('in every iteration');
  await page.keyboard.press('x');
  await expect(notice(page)).toContainText(/^Cut before masked\.1 in every iteration: costs/);
  await expect(canvas(page)).toHaveAccessibleName(/^graph of 253 operations in 157 kernels/);
  await expect(editor(page)).toHaveValue(/scaled = scale\(scores, factor=0\.125\) @kernel \d+ +# 1/);
});
