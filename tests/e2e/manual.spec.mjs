// Kernels merged and cut by hand: by dragging and by keys, with the gain or the reason before it is
// done.

import { accessibilityFindings, expect, test } from './fixture.mjs';
import { chooseExample, choosePolicy, chooseView, editor, headlineBytes, kernelButton, kernels, notice, policyChoice, write } from './visitor.mjs';

const PROGRAM = `input x : f16[1024, 1024]
a = relu(x)
b = exp(a)
s = softmax(b)
m = matmul(s, x)
c = add(m, b)  # comes back
d = matmul(c, x)
`;

const graph = (page) => page.getByRole('region', { name: 'Graph' });
const kernelPanel = (page, number) => graph(page).getByRole('button', { name: new RegExp(`^kernel ${number} of`) });
const op = (page, name) => graph(page).getByRole('button', { name: new RegExp(`^${name},`) });
const status = (page) => graph(page).getByRole('status');

test.beforeEach(async ({ page, open }) => {
  await open();
  await write(page, PROGRAM);
  await choosePolicy(page, 'none');
  await expect.poll(() => kernels(page)).toHaveLength(6);
  // Boxes travel to the places where a pointer takes them.
  await expect.poll(() => page.evaluate(() => document.getAnimations().length)).toBe(0);
});

test('by keys: m, arrows to the partner with its gain, Enter; undo takes back kernels and policy, redo brings both again', async ({ page }) => {
  const before = await headlineBytes(page);
  await kernelPanel(page, 1).focus();
  await page.keyboard.press('m');
  await expect(status(page)).toContainText('Kernel 1 looks for a partner');
  await page.keyboard.press('ArrowRight');
  await expect(kernelPanel(page, 2)).toBeFocused();
  await expect(status(page)).toContainText(/Merging kernels 1 and 2 saves 4\.19 MB and [\d.]+ µs/);
  await page.keyboard.press('Enter');
  await expect.poll(() => kernels(page)).toHaveLength(5);
  expect((await kernels(page))[0]).toEqual(['a', 'b']);
  expect((await headlineBytes(page)).fused).toBe(before.fused - 4 * 1024 * 1024);
  await expect(editor(page)).toHaveValue(/a = relu\(x\) @kernel 1\nb = exp\(a\) @kernel 1/);
  await expect(editor(page)).toHaveValue(/# comes back/);
  await expect(policyChoice(page, 'manual')).toBeChecked();
  await expect(kernelPanel(page, 1)).toBeFocused();
  await page.getByRole('button', { name: 'Undo' }).first().click();
  await expect(editor(page)).toHaveValue(PROGRAM);
  await expect(policyChoice(page, 'none')).toBeChecked();
  await page.keyboard.press('Control+Shift+z');
  await expect.poll(() => kernels(page)).toHaveLength(5);
  await expect(policyChoice(page, 'manual')).toBeChecked();
  await page.reload();
  await expect.poll(() => kernels(page)).toHaveLength(5);
});

test('manual without marks tells that each op is a kernel, and starts from the kernels of the policy before', async ({ page }) => {
  await choosePolicy(page, 'rules');
  await expect.poll(() => kernels(page)).toHaveLength(4);
  const ofRules = await kernels(page);
  await choosePolicy(page, 'manual');
  await expect(notice(page)).toContainText('Each op is a kernel of its own until you merge kernels');
  await expect.poll(() => kernels(page)).toHaveLength(6);
  await notice(page).getByRole('button', { name: 'Start from the kernels of the textbook rules' }).click();
  await expect.poll(() => kernels(page)).toEqual(ofRules);
  await expect(editor(page)).toHaveValue(/# comes back/);
  await expect(notice(page)).toContainText('The text now marks the kernels of the textbook rules');
  await expect(policyChoice(page, 'manual')).toBeChecked();
  await page.keyboard.press('ControlOrMeta+z');
  await expect(editor(page)).toHaveValue(PROGRAM);
  await expect.poll(() => kernels(page)).toHaveLength(6);
  await page.keyboard.press('ControlOrMeta+Shift+z');
  await expect.poll(() => kernels(page)).toEqual(ofRules);
  // The text has marks now, so there is nothing to tell.
  await choosePolicy(page, 'rules');
  await choosePolicy(page, 'manual');
  await expect(notice(page)).toHaveText('');

  await write(page, PROGRAM);
  await choosePolicy(page, 'none');
  await expect.poll(() => kernels(page)).toHaveLength(6);
  await test.step('after kernels that are ops alone there is no offer, and it goes with the policy', async () => {
    await choosePolicy(page, 'manual');
    await expect(notice(page)).toContainText('Each op is a kernel of its own');
    await expect(notice(page).getByRole('button', { name: /^Start from/ })).toHaveCount(0);
    await choosePolicy(page, 'inductor');
    await choosePolicy(page, 'manual');
    await expect(notice(page).getByRole('button', { name: 'Start from the kernels of torch.compile' })).toBeVisible();
    await choosePolicy(page, 'rules');
    await expect(notice(page)).toHaveText('');
  });
});

test('what it says of a merge goes when an edit or a policy changes the kernels', async ({ page }) => {
  const note = notice(page);
  const merge = async () => {
    await kernelPanel(page, 1).focus();
    await page.keyboard.press('m');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect(note).toContainText('Merged kernels 1 and 2: saves 4.19 MB');
  };
  await merge();
  await page.keyboard.press('ControlOrMeta+z');
  await expect(note).toHaveText('');
  await expect(editor(page)).toHaveValue(PROGRAM);

  await merge();
  await editor(page).press('ControlOrMeta+End');
  await page.keyboard.type('# a word');
  await expect(note).toHaveText('');

  await write(page, PROGRAM);
  await choosePolicy(page, 'none');
  await merge();
  await choosePolicy(page, 'rules');
  await expect(note).toHaveText('');

  await write(page, PROGRAM);
  await choosePolicy(page, 'none');
  await merge();
  await chooseExample(page, 'Transformer block');
  await expect(note).toHaveText('');
  await expect(page.getByText(/^What to watch/)).toBeVisible();
});

test('the focus stays when undo takes back what had it', async ({ page }) => {
  const undo = page.getByRole('button', { name: 'Undo', exact: true }).first();
  const merge = async () => {
    await kernelPanel(page, 1).focus();
    await page.keyboard.press('m');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect.poll(() => kernels(page)).toHaveLength(5);
    await expect(kernelPanel(page, 1)).toBeFocused();
  };
  await merge();
  await page.keyboard.press('ControlOrMeta+z');
  await expect.poll(() => kernels(page)).toHaveLength(6);
  await expect(kernelPanel(page, 1)).toBeFocused();

  await merge();
  await notice(page).getByRole('button', { name: 'Undo' }).focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => kernels(page)).toHaveLength(6);
  await expect(kernelPanel(page, 1)).toBeFocused();

  await choosePolicy(page, 'rules');
  await expect.poll(() => kernels(page)).toHaveLength(4);
  await op(page, 'd').focus();
  await op(page, 'b').focus();
  await page.keyboard.press('x');
  await page.keyboard.press('x');
  await expect.poll(() => kernels(page)).toHaveLength(5);
  await expect(kernelPanel(page, 2)).toBeFocused();
  await page.keyboard.press('ControlOrMeta+z');
  await expect.poll(() => kernels(page)).toHaveLength(4);
  await expect(kernelPanel(page, 1)).toBeFocused();

  await undo.focus();
  while (await undo.isEnabled()) await page.keyboard.press('Enter');
  await expect(undo).toBeFocused();
});

test('an example without marks goes back to the rules, and undo to the kernels by hand', async ({ page }) => {
  await choosePolicy(page, 'manual');
  await write(page, PROGRAM.replace('relu(x)', 'relu(x) @kernel 1').replace('exp(a)', 'exp(a) @kernel 1'));
  await expect.poll(() => kernels(page)).toHaveLength(5);
  await chooseExample(page, 'Diamond');
  await expect(policyChoice(page, 'rules')).toBeChecked();
  await page.getByRole('button', { name: 'Undo', exact: true }).click();
  await expect(policyChoice(page, 'manual')).toBeChecked();
  await expect.poll(() => kernels(page)).toHaveLength(5);
});

test('what may not be is refused with its reason, and Escape leaves everything as it was', async ({ page }) => {
  await kernelPanel(page, 2).focus();
  await page.keyboard.press('m');
  for (let step = 0; step < 3; step += 1) await page.keyboard.press('Tab');
  await expect(kernelPanel(page, 5)).toBeFocused();
  await expect(status(page)).toContainText(/is not possible: the kernel would wait for itself: b → s.*m → c/);
  await page.keyboard.press('Enter');
  await expect(editor(page)).toHaveValue(PROGRAM);
  await page.keyboard.press('Escape');
  await expect(status(page)).toHaveText('');
  await expect(kernelPanel(page, 2)).toBeFocused();
  await expect(policyChoice(page, 'none')).toBeChecked();
});

test('by dragging the number of a kernel onto another one, where that may be', async ({ page }) => {
  await test.step('a drop on a kernel that may not be merged says why and changes nothing', async () => {
    await page.getByRole('button', { name: 'Fit' }).click();
    const corner = async (number) => {
      const { x, y } = await kernelPanel(page, number).locator('.dag-panel').boundingBox();
      return { x: x + 4, y: y + 12 };
    };
    const [from, to] = [await corner(4), await corner(6)];
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(to.x, to.y, { steps: 6 });
    await page.mouse.up();
    await expect(notice(page)).toContainText(/Merging kernels 4 and 6 is not possible/);
    await expect(editor(page)).toHaveValue(PROGRAM);
  });
  await test.step('onto one that may', async () => {
    await page.getByRole('button', { name: 'Fit' }).click();
    const box = async (number, part) => kernelPanel(page, number).locator(part).boundingBox();
    const middle = ({ x, y, width, height }) => ({ x: x + width / 2, y: y + height / 2 });
    const [from, panel] = [middle(await box(1, '.dag-badge')), await box(2, '.dag-panel')];
    // The corner of a panel, beside its op.
    const to = { x: panel.x + 4, y: panel.y + 12 };
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(to.x, to.y, { steps: 6 });
    await expect(status(page)).toContainText(/Merging kernels 1 and 2 saves/);
    await page.mouse.up();
    await expect.poll(() => kernels(page)).toHaveLength(5);
    await expect(page.getByRole('status').filter({ hasText: 'Merged kernels 1 and 2: saves' })).toBeVisible();
  });
});

test('by dragging the box of an op onto another one, while the ground moves the picture', async ({ page }) => {
  await page.getByRole('button', { name: 'Fit' }).click();
  const middle = async (name) => {
    const { x, y, width, height } = await op(page, name).boundingBox();
    return { x: x + width / 2, y: y + height / 2 };
  };
  const drag = async (from, to) => {
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(to.x, to.y, { steps: 6 });
  };
  const [a, b] = [await middle('a'), await middle('b')];
  await drag(a, b);
  await expect(status(page)).toContainText(/Merging kernels 1 and 2 saves/);
  await page.mouse.up();
  await expect.poll(() => kernels(page)).toHaveLength(5);
  await page.keyboard.press('ControlOrMeta+z');
  await expect.poll(() => kernels(page)).toHaveLength(6);
  await expect.poll(() => page.evaluate(() => document.getAnimations().length)).toBe(0);

  const before = await middle('a');
  const ground = { x: before.x + 140, y: before.y };
  await drag(ground, { x: ground.x + 40, y: ground.y + 30 });
  await page.mouse.up();
  const moved = await middle('a');
  expect(moved.x - before.x).toBeCloseTo(40, 0);
  expect(moved.y - before.y).toBeCloseTo(30, 0);
  await expect.poll(() => kernels(page)).toHaveLength(6);

  await test.step('in the unfused view it starts from the unfused kernels', async () => {
    await choosePolicy(page, 'rules');
    await chooseView(page, 'Unfused');
    await expect(policyChoice(page, 'none')).toBeChecked();
    await expect.poll(() => page.evaluate(() => document.getAnimations().length)).toBe(0);
    const from = await middle('a');
    await drag(from, { x: from.x + 140, y: from.y });
    await expect(status(page)).toContainText('Drop it on another operation');
    await page.mouse.up();
    await expect(status(page)).toHaveText('');
    expect(await middle('a'), 'the picture stays where it is').toEqual(from);
    await drag(from, await middle('b'));
    await expect(status(page)).toContainText('Drop it here to merge both by hand');
    await page.mouse.up();
    await expect.poll(() => kernels(page)).toEqual([['a', 'b'], ['s'], ['m'], ['c'], ['d']]);
    await expect(policyChoice(page, 'manual')).toBeChecked();
    await expect(notice(page)).toContainText('Merged kernels 1 and 2: saves');
  });
});

test('m in the unfused view starts from the unfused kernels', async ({ page }) => {
  await choosePolicy(page, 'rules');
  await expect.poll(() => kernels(page)).toHaveLength(4);
  await chooseView(page, 'Unfused');
  await op(page, 'b').focus();
  await page.keyboard.press('m');
  await expect(status(page)).toContainText('Kernel 2 looks for a partner');
  await expect(kernelPanel(page, 2)).toBeFocused();
  await expect.poll(() => kernels(page)).toHaveLength(6);
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('Enter');
  await expect.poll(() => kernels(page)).toEqual([['a', 'b'], ['s'], ['m'], ['c'], ['d']]);
  await expect(policyChoice(page, 'manual')).toBeChecked();
});

test('the card of an op and of a kernel merges with what comes before and after', async ({ page }) => {
  const offers = page.locator('.inspector').getByRole('button', { name: /^Merge with/ });
  await op(page, 'b').click();
  await expect(offers).toHaveText([/^Merge with kernel 1 \(a\) saves 4\.19 MB and [\d.]+ µs/, /^Merge with kernel 3 \(s\) saves/]);
  expect(await accessibilityFindings(page)).toEqual([]);
  await page.getByRole('button', { name: 'Show kernel 2' }).click();
  await expect(page.getByRole('region', { name: 'kernel 2: b' })).toBeInViewport();
  await expect(offers).toHaveCount(2);
  await offers.last().focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => kernels(page)).toEqual([['a'], ['b', 's'], ['m'], ['c'], ['d']]);
  await expect(notice(page)).toContainText('Merged kernels 2 and 3: saves');
  await expect(kernelPanel(page, 2)).toBeFocused();
});

test.describe('on a touch screen', () => {
  test.use({ hasTouch: true });

  test('a finger drags the number of a kernel, where elsewhere it would scroll', async ({ page }) => {
    await page.getByRole('button', { name: 'Fit' }).click();
    const middle = async (number) => {
      const { x, y, width, height } = await kernelPanel(page, number).locator('.dag-badge').boundingBox();
      return { x: x + width / 2, y: y + height / 2 };
    };
    const [from, badge] = [await middle(1), await middle(2)];
    const to = { x: badge.x + 10, y: badge.y + 8 };
    const browser = await page.context().newCDPSession(page);
    const touch = (type, ...touchPoints) => browser.send('Input.dispatchTouchEvent', { type, touchPoints });
    await touch('touchStart', from);
    for (const share of [0.2, 0.4, 0.6, 0.8, 1]) {
      await touch('touchMove', { x: from.x + share * (to.x - from.x), y: from.y + share * (to.y - from.y) });
    }
    await expect(status(page)).toContainText(/Merging kernels 1 and 2 saves/);
    await touch('touchEnd');
    await expect.poll(() => kernels(page)).toHaveLength(5);
  });
});

test('a kernel is cut before an op by x or in its details, after it is said what that costs', async ({ page }) => {
  await test.step('x', async () => {
    await choosePolicy(page, 'rules');
    await expect.poll(() => kernels(page)).toHaveLength(4);
    await op(page, 'b').focus();
    await page.keyboard.press('x');
    await expect(status(page)).toContainText(/Cutting before b costs 4\.19 MB and [\d.]+ µs of the lower bound\. Press x again/);
    await page.keyboard.press('x');
    await expect.poll(() => kernels(page)).toHaveLength(5);
    await expect(kernelPanel(page, 2)).toBeFocused();
    await op(page, 'a').focus();
    await page.keyboard.press('x');
    await expect(status(page)).toContainText('there is nothing to cut');
  });
  await test.step('an edge on chip in the details of its kernel', async () => {
    await write(page, PROGRAM);
    await choosePolicy(page, 'rules');
    await expect.poll(() => kernels(page)).toHaveLength(4);
    await kernelButton(page, 1).click();
    await expect(page.getByText('drag a kernel onto another one to merge them')).toBeVisible();
    const cut = page.getByRole('button', { name: 'Cut before this op: a to b' });
    await cut.focus();
    await expect(page.locator('.kernels-details').getByRole('status')).toContainText(/Cutting before b costs 4\.19 MB/);
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await expect.poll(() => kernels(page)).toHaveLength(5);
    await expect(kernelButton(page, 2)).toBeFocused();
  });
});

test('a number in the text that is not the one in the pictures stands beside the kernel', async ({ page }) => {
  await write(page, PROGRAM.replace('exp(a)', 'exp(a) @kernel 7').replace('softmax(b)', 'softmax(b) @kernel 7'));
  await choosePolicy(page, 'manual');
  await expect.poll(() => kernels(page)).toHaveLength(5);
  await kernelButton(page, 2).click();
  const heading = page.locator('.details-title', { hasText: 'b + s' });
  await expect(heading).toContainText('@kernel 7 in the text');
  // A merge writes the numbers of the pictures.
  await kernelPanel(page, 1).focus();
  await page.keyboard.press('m');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await expect(editor(page)).toHaveValue(/a = relu\(x\) @kernel 1\nb = exp\(a\) @kernel 1\ns = softmax\(b\) @kernel 1\n/);
  await expect(page.locator('.details-title', { hasText: 'a + b + s' })).not.toContainText('in the text');
});
