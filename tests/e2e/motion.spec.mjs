// Fusing is seen to happen: what changes between two sets of kernels travels, and nothing moves
// that a slider changes.

import { expect, test } from './fixture.mjs';
import { policyChoice } from './visitor.mjs';

/** The longest duration of an animation, as the style sheet has it. */
const CALM_MS = 200;

/** Changes something, and returns what moves two frames later: the classes of each element, or of the mark around it. */
const movingAfter = (page, change) => page.evaluate(async (what) => {
  if (what === 'policy') {
    document.querySelector('.policies input[value=none]').click();
  } else if (what === 'view') {
    document.querySelector('.switch input:not(:checked)').click();
  } else {
    const range = document.querySelector('.slider input[type=range]');
    range.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }));
    range.stepDown(4);
    range.dispatchEvent(new Event('input', { bubbles: true }));
  }
  const frame = () => new Promise((next) => { requestAnimationFrame(next); });
  await frame();
  await frame();
  const duration = (animation) => animation.effect.getTiming().duration;
  return document.getAnimations().filter((animation) => duration(animation) > 1 && animation.effect.target.closest('svg.dag, svg.chart')).map((animation) => ({
    classes: animation.effect.target.closest('[class]').getAttribute('class').split(' '),
    ms: duration(animation),
  }));
}, change);

const moves = (moving, name) => moving.filter(({ classes }) => classes.includes(name)).length;

test('between two policies boxes, points and bars travel, and come to rest', async ({ page, open }) => {
  await open();
  const moving = await movingAfter(page, 'policy');
  const ops = await page.locator('.dag-op').count();
  expect(moves(moving, 'dag-op')).toBe(ops);
  for (const name of ['dag-panel', 'mark-solid-point', 'mark-read', 'mark-tensor-bar', 'mark-kernel-box']) {
    expect(moves(moving, name), name).toBeGreaterThan(1);
  }
  for (const { ms } of moving) { expect(ms).toBeLessThanOrEqual(CALM_MS); }
  await expect.poll(() => page.evaluate(() => document.getAnimations().length)).toBe(0);
  await expect(page.locator('.is-switching')).toHaveCount(0);
});

test('between unfused and fused the boxes of kernels close up, points travel and bars shrink; ops stay', async ({ page, open }) => {
  await open();
  for (const view of ['unfused', 'fused']) {
    const moving = await movingAfter(page, 'view');
    for (const name of ['dag-panel', 'mark-solid-point', 'mark-read', 'mark-tensor-bar', 'mark-kernel-box']) {
      expect(moves(moving, name), `${name}, ${view}`).toBeGreaterThan(1);
    }
    expect(moves(moving, 'dag-op')).toBe(0);
    for (const { ms } of moving) { expect(ms).toBeLessThanOrEqual(CALM_MS); }
    await expect.poll(() => page.evaluate(() => document.getAnimations().length)).toBe(0);
  }
});

test('nothing travels while a slider is held, nor for who asked for less motion', async ({ page, open }) => {
  await open();
  const dragged = await movingAfter(page, 'slider');
  expect(dragged).toEqual([]);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.reload();
  await expect(policyChoice(page, 'none')).toBeAttached();
  for (const change of ['view', 'policy', 'slider']) expect(await movingAfter(page, change), change).toEqual([]);
  await expect(policyChoice(page, 'none')).toBeChecked();
});
