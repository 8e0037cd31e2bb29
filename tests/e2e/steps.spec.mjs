// The tab that replays what the policy decided, while graph and figures follow.

import { accessibilityFindings, expect, test } from './fixture.mjs';
import { choosePolicy, chooseView, editor, grouped, headlineBytes, kernels, policyChoice, put, viewSwitch } from './visitor.mjs';

const panel = (page) => page.getByRole('tabpanel', { name: 'Steps' });
const now = (page) => panel(page).getByRole('status');
const button = (page, name) => panel(page).getByRole('button', { name, exact: true });
const graph = (page) => page.getByRole('region', { name: 'Graph' });
const panels = (page) => graph(page).getByRole('button', { name: /^kernel \d+ of/ });

test.beforeEach(async ({ page, open }) => {
  await open();
  await page.getByRole('tab', { name: 'Steps' }).click();
});

test('the graph and the figures follow the steps, by pointer and by keys, until another tab is chosen', async ({ page }) => {
  const whole = await headlineBytes(page);
  await test.step('forward, back, first and last', async () => {
    await expect(now(page)).toContainText(/^Step (\d+) of \1: /);
    await button(page, 'First step').click();
    await expect(now(page)).toContainText('no decisions yet');
    await expect.poll(async () => (await headlineBytes(page)).fused).toBe(whole.unfused);
    await expect(panels(page)).toHaveCount(14);
    let last = whole.unfused;
    for (let step = 1; step <= 3; step += 1) {
      await button(page, 'Step forward').click();
      await expect(now(page)).toContainText(`Step ${step} of`);
      const { fused } = await headlineBytes(page);
      expect(fused).toBeLessThanOrEqual(last);
      last = fused;
    }
    expect(last).toBeLessThan(whole.unfused);
    await button(page, 'Step back').click();
    await expect(now(page)).toContainText('Step 2 of');
    await button(page, 'Last step').click();
    await expect.poll(() => headlineBytes(page)).toEqual(whole);
    await expect(panels(page)).toHaveCount(9);
    expect(await accessibilityFindings(page)).toEqual([]);
  });
  await test.step('arrows on the buttons and on the slider, and a line of the list', async () => {
    await button(page, 'Step back').focus();
    await page.keyboard.press('Home');
    await expect(now(page)).toContainText('Step 0 of');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await expect(now(page)).toContainText('Step 2 of');
    await page.keyboard.press('ArrowLeft');
    await expect(now(page)).toContainText('Step 1 of');
    await expect(button(page, 'Step back')).toBeFocused();
    const slider = panel(page).getByRole('slider', { name: 'Step' });
    await slider.focus();
    await page.keyboard.press('ArrowRight');
    await expect(now(page)).toContainText('Step 2 of');
    await expect(slider).toHaveValue('2');
    const line = (number) => panel(page).getByRole('listitem').nth(number - 1).getByRole('button');
    await line(2).focus();
    await page.keyboard.press('ArrowDown');
    await expect(now(page)).toContainText('Step 3 of');
    await expect(line(3)).toBeFocused();
    await expect(line(3)).toHaveAttribute('aria-current', 'step');
    await page.keyboard.press('ArrowUp');
    await expect(line(2)).toBeFocused();
    await line(4).click();
    await expect(now(page)).toContainText('Step 4 of');
    await expect(line(4)).toBeFocused();
  });
  await test.step('another tab shows what the decisions led to', async () => {
    await expect.poll(async () => (await headlineBytes(page)).fused).toBeGreaterThan(whole.fused);
    await page.getByRole('tab', { name: 'Kernels' }).click();
    await expect.poll(() => headlineBytes(page)).toEqual(whole);
    expect(await kernels(page)).toHaveLength(9);
  });
});

test('a refusal says why, and the graph marks the ops that it is about and brings both into sight', async ({ page }) => {
  await chooseView(page, 'Unfused');
  const refusal = panel(page).getByRole('button', { name: /attn_scores, softmax stay separate/ });
  await expect(refusal).toHaveText(/never holds the whole row that the reduction softmax needs/);
  await refusal.click();
  await expect(viewSwitch(page, 'Fused')).toBeChecked();
  const marked = graph(page).locator('.is-decided');
  await expect(marked).toHaveCount(2);
  await expect(marked.first()).toHaveAccessibleName(/attn_scores/);
  await expect(marked.last()).toHaveAccessibleName(/softmax/);
  await page.getByRole('tab', { name: 'Limits' }).click();
  await expect(marked).toHaveCount(0);

  await page.getByRole('tab', { name: 'Steps' }).click();
  await choosePolicy(page, 'inductor');
  await panel(page).getByRole('button', { name: /ffn_up, gelu stay separate/ }).click();
  await page.evaluate(() => scrollTo(0, 0));
  await expect(marked).toHaveCount(2);
  for (const op of [marked.first(), marked.last()]) await expect(op).toBeInViewport({ ratio: 0.99 });
});

test('the controls and the graph are seen together, and hide nothing', async ({ page }) => {
  for (const [width, height] of [[390, 844], [1366, 768], [1920, 1080]]) {
    await page.setViewportSize({ width, height });
    const canvas = graph(page).getByRole('group', { name: /^graph of/ });
    await canvas.scrollIntoViewIfNeeded();
    await expect(canvas).toBeInViewport();
    await expect(button(page, 'Step back')).toBeInViewport({ ratio: 1 });
    // The page can still grow while its charts are drawn for the new width.
    await expect.poll(async () => {
      await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
      const [list, controls] = await Promise.all([panel(page).getByRole('list').boundingBox(), now(page).boundingBox()]);
      return controls.y - list.y - list.height;
    }).toBeGreaterThanOrEqual(0);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  }
});

test('who has moved the graph keeps looking at the same place, and a broken text keeps the last steps', async ({ page }) => {
  await button(page, 'First step').click();
  const parts = graph(page).locator('.dag-parts');
  await page.getByRole('button', { name: 'Fit' }).click();
  await page.getByRole('button', { name: 'Zoom out' }).click();
  const before = await parts.getAttribute('transform');
  await button(page, 'Step forward').click();
  await button(page, 'Step forward').click();
  await expect(panels(page)).toHaveCount(13);
  expect(await parts.getAttribute('transform')).toBe(before);

  await put(page, 'input x : f16[64]\ny = relu(x)\nz = gelu(y)\n');
  await expect(now(page)).toContainText('Step 2 of 2: z joins');
  await put(page, `${await editor(page).inputValue()}oops = nothing(`);
  await expect(page.locator('.is-stale')).not.toHaveCount(0);
  await expect(now(page)).toContainText('Step 2 of 2: z joins');
  await button(page, 'Step back').click();
  await expect(panels(page)).toHaveCount(2);
});

test('thousands of steps come page by page', async ({ page }) => {
  const lines = ['input x0 : f16[64, 64]', 'weight w : f16[64, 64]'];
  for (let at = 1; at <= 1200; at += 1) lines.push(`x${at} = ${at % 3 ? 'relu' : 'matmul'}(x${at - 1}${at % 3 ? '' : ', w'})`);
  await put(page, lines.join('\n'));
  await expect(now(page)).toContainText(/^Step ([\d,]{5}) of \1: /);
  const count = Number((await now(page).textContent()).match(/of ([\d,]+)/)[1].replaceAll(',', ''));
  expect(count).toBeGreaterThan(1200);
  expect(await panel(page).getByRole('listitem').count()).toBeLessThan(210);
  const slider = panel(page).getByRole('slider', { name: 'Step' });
  await slider.fill('400');
  await expect(now(page)).toContainText(`Step 400 of ${grouped(count)}`);
  await expect(slider).toHaveAttribute('aria-valuetext', `400 of ${grouped(count)}`);
  const line = panel(page).getByRole('button', { name: /^400 / });
  // The list is below the pictures, and has scrolled to the step.
  await panel(page).getByRole('list').evaluate((list) => list.scrollIntoView({ block: 'center' }));
  await expect(line).toBeInViewport();
  await line.focus();
  await page.keyboard.press('ArrowDown');
  await expect(panel(page).getByRole('button', { name: /^401 / })).toBeFocused();
  await panel(page).getByRole('button', { name: 'To step 601' }).click();
  await expect(now(page)).toContainText(`Step 601 of ${grouped(count)}`);
});

test('kernels that are merged by hand on the way are seen at once', async ({ page }) => {
  const slider = panel(page).getByRole('slider', { name: 'Step' });
  await slider.fill('2');
  await expect(panels(page)).toHaveCount(13);
  // A kernel of two ops and the next one.
  await graph(page).getByRole('button', { name: /^kernel 6 of/ }).focus();
  await page.keyboard.press('m');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await expect(policyChoice(page, 'manual')).toBeChecked();
  await expect(panels(page)).toHaveCount(12);
  await expect(now(page)).toContainText(/^Step (\d+) of \1: /);
  await expect(slider).toHaveValue((await slider.getAttribute('max')));
});
