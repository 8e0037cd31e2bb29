// What undo and redo bring back: the last action, whatever it changed, and nothing else.

import { expect, test } from './fixture.mjs';
import { chooseExample, choosePolicy, chooseView, editor, fragmentOf, notice, openTab, panel, picker, policyChoice, result, senderNote, slider, untilStored, viewSwitch, write } from './visitor.mjs';

const TEXT = 'param N = 512 in 128..1024 step 128\ninput x : f32[N, N]\nact: y = gelu(x)\nnorm: z = layer_norm(y)\n';
const undo = (page) => page.locator('.history-buttons').getByRole('button', { name: 'Undo', exact: true });
const redo = (page) => page.locator('.history-buttons').getByRole('button', { name: 'Redo', exact: true });
const advice = (page, words) => panel(page, 'What to do').locator('tbody tr').filter({ hasText: words });

test('undo takes back the advice that was tried, and not the example before it', async ({ page, open }) => {
  await open();
  await chooseExample(page, 'Diamond');
  await chooseExample(page, 'Transformer block');
  await openTab(page, 'What to do');
  const autotune = advice(page, 'max-autotune');
  await autotune.getByRole('button', { name: 'Try it' }).click();
  await expect(autotune).toHaveCount(0);
  await expect(notice(page)).toContainText('Set: max-autotune');
  const [text, figures] = [await editor(page).inputValue(), await page.locator('.headline-figure').first().textContent()];

  await undo(page).click();
  await expect(autotune).toHaveCount(1);
  await expect(notice(page)).toBeEmpty();
  expect(await editor(page).inputValue()).toBe(text);
  await redo(page).click();
  await expect(autotune).toHaveCount(0);
  await expect(page.locator('.headline-figure').first()).toHaveText(figures);
  await page.keyboard.press('ControlOrMeta+z');
  await expect(autotune).toHaveCount(1);
});

test('undo takes back what was changed last: size, policy, GPU, option, view', async ({ page, open }) => {
  await open();
  await chooseExample(page, 'Transformer block');
  const size = await slider(page, 'S').getAttribute('aria-valuetext');
  await slider(page, 'S').press('ArrowRight');
  await choosePolicy(page, 'optimal');
  await picker(page, 'GPU').selectOption('h200');
  await chooseView(page, 'Unfused');
  const unfused = viewSwitch(page, 'Unfused');
  await expect(unfused).toBeChecked();

  await undo(page).click();
  await expect(unfused).not.toBeChecked();
  await expect(picker(page, 'GPU')).toHaveValue('h200');
  await undo(page).click();
  await expect(picker(page, 'GPU')).toHaveValue('a100-80');
  await expect(policyChoice(page, 'optimal')).toBeChecked();
  await undo(page).click();
  await expect(policyChoice(page, 'inductor')).toBeChecked();
  await expect(slider(page, 'S')).not.toHaveAttribute('aria-valuetext', size);
  await undo(page).click();
  await expect(slider(page, 'S')).toHaveAttribute('aria-valuetext', size);
  await redo(page).click();
  await redo(page).click();
  await expect(policyChoice(page, 'optimal')).toBeChecked();
});

test('a page that opens from a link has nothing to undo, and keeps its name', async ({ page, open }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await open(fragmentOf(`policy=optimal\n\n${TEXT}`));
  await expect(editor(page)).toHaveValue(TEXT);
  await expect(undo(page)).toBeHidden();
  await expect(page.getByRole('heading', { name: 'Fuseline' })).toBeVisible();
  await page.keyboard.press('ControlOrMeta+z');
  await expect(editor(page)).toHaveValue(TEXT);
  await expect(policyChoice(page, 'optimal')).toBeChecked();

  await slider(page, 'N').press('ArrowRight');
  await expect(undo(page)).toBeVisible();
  const { x } = await undo(page).boundingBox();
  expect(x, 'where the name stood').toBeLessThan(24);
});

test('a link that opens the page offers the way back to the visitor\'s own text', async ({ page, open, site }) => {
  await open();
  await write(page, 'mine = relu(x) : f16[8]\n');
  await untilStored(page, 'mine = relu(x)');
  await page.goto('about:blank');
  await page.goto(site + fragmentOf(`\n${TEXT}`));
  await expect(editor(page)).toHaveValue(TEXT);
  await notice(page).getByRole('button', { name: 'Go back to it' }).click();
  await expect(editor(page)).toHaveValue('mine = relu(x) : f16[8]\n');
});

test('a drag is one step from press to release, also when it pauses', { tag: '@firefox' }, async ({ page, open }) => {
  await open(fragmentOf(`\n${TEXT}`));
  const range = slider(page, 'N');
  const { x, y, width, height } = await range.boundingBox();
  const to = (share) => page.mouse.move(x + width * share, y + height / 2, { steps: 4 });
  await to(0.5);
  await page.mouse.down();
  await to(0.7);
  const first = await range.getAttribute('aria-valuetext');
  // Longer than the pause that ends a step of typing.
  await page.waitForTimeout(1300);
  await to(0.95);
  await page.mouse.up();
  await expect(range).not.toHaveAttribute('aria-valuetext', first);
  await expect(range).not.toHaveAttribute('aria-valuetext', '512');
  await undo(page).click();
  await expect(editor(page)).toHaveValue(TEXT);
  await expect(undo(page)).toBeDisabled();
});

test('undo and redo keep the note of the sender', async ({ page, open }) => {
  await open(fragmentOf(`note=Look here\n\n${TEXT}`));
  await expect(senderNote(page)).toContainText('Look here');
  await slider(page, 'N').press('ArrowRight');
  await undo(page).click();
  await redo(page).click();
  await expect(senderNote(page)).toContainText('Look here');
  await chooseExample(page, 'Diamond');
  await expect(senderNote(page)).toHaveCount(0);
  await undo(page).click();
  await expect(senderNote(page)).toContainText('Look here');
  await redo(page).click();
  await expect(senderNote(page)).toHaveCount(0);
  await undo(page).click();
  await expect(result(page).locator('.claim')).toContainText('2 kernels');
  await expect(senderNote(page)).toContainText('Look here');
});
