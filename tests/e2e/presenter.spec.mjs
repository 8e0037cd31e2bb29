// Presenting: views fill the screen, keys step, a second window has the notes, and type can be read
// from the last row.

import { accessibilityFindings, expect, test } from './fixture.mjs';
import { choose, policyChoice, present } from './visitor.mjs';

const bar = (page) => page.getByRole('complementary', { name: 'Presenting' });
const region = (page, name) => page.getByRole('region', { name, exact: true });
const begin = async (page) => {
  await present(page);
  await expect(bar(page)).toBeVisible();
};
const place = (page) => bar(page).locator('.presenter-place');

/** Text before the class that is smaller than 24 of 1080 pixels, which the last row can read, with its size. */
const smallText = (page) => page.evaluate(() => {
  const found = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode;
    const element = text.parentElement;
    if (!text.textContent.trim() || !element.checkVisibility({ visibilityProperty: true }) || element.closest('.sr-only, .presenter-bar')) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    if (range.getBoundingClientRect().width === 0) continue;
    const matrix = element.closest('svg') && element.getScreenCTM();
    const scale = matrix ? Math.hypot(matrix.a, matrix.b) : 1;
    const px = parseFloat(getComputedStyle(element).fontSize) * scale;
    if (px < 23.9 * innerHeight / 1080) found.push(`${px.toFixed(1)} px: ${text.textContent.trim()}`);
  }
  return found;
});

test('a program fills the screen, and digits choose its views', async ({ page, open }) => {
  await open();
  await begin(page);
  await expect(page.getByRole('banner')).toBeHidden();
  for (const name of ['Result', 'Graph', 'Roofline']) await expect(region(page, name)).toBeVisible();
  await expect(region(page, 'Memory traffic')).toBeHidden();
  await page.keyboard.press('6');
  await expect(region(page, 'Memory traffic')).toBeVisible();
  await expect(region(page, 'Graph')).toBeHidden();
  await page.keyboard.press('5');
  await expect(region(page, 'Roofline')).toBeHidden();
  // The last picture stays.
  await page.keyboard.press('6');
  await expect(region(page, 'Memory traffic')).toBeVisible();
  await expect(bar(page).getByRole('button', { name: 'Memory traffic' })).toHaveAttribute('aria-pressed', 'true');
  expect(await accessibilityFindings(page)).toEqual([]);

  // Without a lesson a remote control shows the program before and after fusion, wherever the focus
  // is.
  await page.keyboard.press('4');
  await page.locator('.dag').focus();
  await page.keyboard.press('PageUp');
  await expect(page.locator('.dag')).toHaveClass(/is-unfused/);
  await page.keyboard.press('PageDown');
  await expect(page.locator('.dag')).not.toHaveClass(/is-unfused/);

  await page.keyboard.press('b');
  await expect(page.locator('.blank-screen')).toBeVisible();
  await page.keyboard.press('b');
  await expect(page.locator('.blank-screen')).toHaveCount(0);
  await page.keyboard.press('Escape');
  await expect(bar(page)).toHaveCount(0);
  await expect(page.getByRole('banner')).toBeVisible();
});

for (const [width, height] of [[1366, 768], [1920, 1080], [3840, 2160]]) {
  test(`the last row can read all type on ${width} × ${height}`, async ({ page, open }) => {
    await page.setViewportSize({ width, height });
    await open('#lesson=tiling.2');
    await begin(page);
    // Each picture, beside the lesson and beside the op list.
    for (const key of ['1', '4', '5', '6', '7', 't', '4', '5', '6', '7']) {
      await page.keyboard.press(key);
      await expect.poll(() => smallText(page), { message: `after ${key}` }).toEqual([]);
    }
  });
}

test('a remote control goes through a lesson: the answer, the next step, the next lesson', async ({ page, open }) => {
  await open('#lesson=exercise.1');
  await begin(page);
  await expect(place(page)).toHaveText('From ops to kernels, 1 of 6');
  await expect(page.getByRole('heading', { name: 'Every op asks memory' })).toBeVisible();
  await expect(region(page, 'Graph')).toBeVisible();
  await page.keyboard.press('PageDown');
  await expect(page.locator('.task-verdict')).toContainText('16.8 MB');
  await expect(place(page)).toHaveText('From ops to kernels, 1 of 6');
  await page.keyboard.press('PageDown');
  await expect(place(page)).toHaveText('From ops to kernels, 2 of 6');
  await expect(policyChoice(page, 'none')).toBeChecked();
  await page.keyboard.press('PageUp');
  await expect(place(page)).toHaveText('From ops to kernels, 1 of 6');
  // What is typed into an answer is no command.
  await page.getByRole('textbox').fill('4');
  await page.keyboard.press('f');
  await expect(page.getByRole('textbox')).toHaveValue('4f');
  await page.keyboard.press('Tab');
  // Each press shows an answer or another step.
  const shown = async () => `${await place(page).textContent()}: ${await page.locator('.task-verdict').allTextContents()}`;
  const goOn = async () => {
    const before = await shown();
    await page.keyboard.press('PageDown');
    await expect.poll(shown).not.toBe(before);
  };
  for (let at = 0; at < 14; at += 1) {
    if ((await place(page).textContent()).includes('the end')) break;
    await goOn();
  }
  await expect(place(page)).toHaveText('From ops to kernels, the end');
  await goOn();
  await expect(place(page)).toHaveText(/, 1 of \d/);
  await expect(place(page)).not.toHaveText(/From ops to kernels/);
});

test('presses that come faster than frames are drawn go through the steps', async ({ page, open }) => {
  await open('#lesson=exercise.1');
  await begin(page);
  await expect(page.getByRole('heading', { name: 'Every op asks memory' })).toBeVisible();
  await page.evaluate(async () => {
    // Effects run between the presses, and no frame is drawn.
    const effectsRan = () => new Promise((resolve) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = resolve;
      port2.postMessage(null);
    });
    for (const key of ['PageDown', 'PageDown', 'PageUp', 'PageDown', 'PageDown']) {
      document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
      await effectsRan();
    }
  });
  await expect(place(page)).toHaveText(/From ops to kernels, [23] of 6/);
});

for (const [kind, step, answer, others] of [
  ['has a slider', 'exercise.5', 'Move the slider to B = 16.', 'B = 176 is right, too, and B = 192 no longer.'],
  ['is done in several ways', 'exercise.6', 'Merge', 'This is one way of several'],
  ['asks for the lowest value', 'tiling.2', '448', ''],
]) {
  test(`the notes say which other answers are right where a task ${kind}`, async ({ page, open }) => {
    await open(`#lesson=${step}`);
    await begin(page);
    const [notes] = await Promise.all([page.waitForEvent('popup'), page.keyboard.press('n')]);
    const task = notes.locator('.speaker-task');
    await expect(task).toContainText(answer);
    await expect(task).toContainText(others);
    if (!others) await expect(task).not.toContainText('right, too');
  });
}

test('a second window has the notes, the answer and the plan, and commands the page', async ({ page, open, problems }) => {
  await open('#lesson=exercise.1');
  await begin(page);
  const [notes] = await Promise.all([page.waitForEvent('popup'), page.keyboard.press('n')]);
  notes.on('pageerror', (error) => problems.push(`uncaught: ${error.message}`));
  await expect(notes.getByRole('heading', { name: 'Every op asks memory' })).toBeVisible();
  await expect(notes.locator('.speaker-words')).toContainText('Let the class do the product aloud');
  await expect(notes.locator('.speaker-task')).toContainText('16.8 MB');
  await expect(page.locator('.task-verdict')).toBeEmpty();
  expect(await accessibilityFindings(notes)).toEqual([]);

  await notes.keyboard.press('ArrowRight');
  await expect(page.locator('.task-verdict')).toContainText('16.8 MB');
  await expect(notes.getByText('The class sees the answer.')).toBeVisible();
  await notes.getByRole('button', { name: 'Next' }).click();
  await expect(notes.getByRole('heading', { name: 'Which ops may share a kernel?' })).toBeVisible();
  await notes.keyboard.press('5');
  await expect(region(page, 'Roofline')).toBeVisible();
  await expect(notes.getByRole('button', { name: 'Roofline' })).toHaveAttribute('aria-pressed', 'true');

  await notes.getByText('Plan', { exact: true }).click();
  await notes.getByRole('button', { name: 'The roofline' }).click();
  await expect(place(page)).toHaveText(/^The roofline, 1 of \d/);
  await notes.getByRole('button', { name: 'End' }).click();
  await expect(bar(page)).toHaveCount(0);
  await expect(notes.getByRole('status').first()).toHaveText('The presentation has ended.');
});

test('the code leads to the present step, and the pointer follows the mouse', async ({ page, open }) => {
  await open('#lesson=exercise.2');
  await begin(page);
  await page.keyboard.press('q');
  const dialog = page.getByRole('dialog', { name: 'QR code' });
  await expect(dialog.getByRole('img', { name: 'QR code of the link' })).toBeVisible();
  await expect(dialog.locator('.qr-link')).toHaveText(/#lesson=exercise\.2$/);
  await expect(dialog).toContainText('only this machine can open the link');
  expect(await accessibilityFindings(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await expect(dialog).toBeHidden();
  await expect(bar(page)).toBeVisible();
  // The program itself, once there is no lesson, is in the link too.
  await page.keyboard.press('p');
  const pointer = page.locator('.large-pointer');
  // It is there before the mouse moves, and in sight from then on.
  await expect(pointer).toBeAttached();
  await page.mouse.move(200, 300);
  await page.mouse.move(400, 300);
  await expect(pointer).toHaveCSS('left', '400px');
  const ring = await pointer.boundingBox();
  expect(Math.round(ring.x + ring.width / 2)).toBe(400);
  expect(ring.width).toBeGreaterThan(60);
});

test('a workshop has slides and lessons, and Next leads through all of it', async ({ page, open, problems }) => {
  await open();
  await page.getByRole('button', { name: 'Learn', exact: true }).click();
  await page.getByText('For a class: a workshop of 45, 90 or 180 minutes').click();
  await expect(page.locator('.plan tbody tr')).toHaveCount(9);
  await choose(page.getByRole('radio', { name: '45 minutes' }));
  await expect(page.locator('.plan tbody tr')).toHaveCount(5);
  await page.getByRole('button', { name: 'Present the workshop' }).click();

  const slide = (name) => page.getByRole('region', { name });
  const welcome = slide('Kernel fusion: what it saves, and when');
  await expect(welcome).toBeVisible();
  await expect(welcome.getByRole('img', { name: 'QR code of the link' })).toBeVisible();
  expect(await accessibilityFindings(page)).toEqual([]);
  await expect.poll(() => smallText(page)).toEqual([]);
  const [notes] = await Promise.all([page.waitForEvent('popup'), page.keyboard.press('n')]);
  notes.on('pageerror', (error) => problems.push(`uncaught: ${error.message}`));
  await expect(notes.locator('.speaker-words')).toContainText('Wait until everybody has the page open.');
  await expect(notes.locator('.speaker-clock')).toContainText('of 0:45 h');
  await notes.getByText('Plan', { exact: true }).click();
  await expect(notes.locator('.plan tr[aria-current]')).toContainText('welcome');
  await expect(notes.locator('.speaker-next')).toHaveText('Next: From ops to kernels');

  await page.keyboard.press('PageDown');
  await expect(welcome).toHaveCount(0);
  await expect(place(page)).toHaveText('From ops to kernels, 1 of 6');
  // A blank screen comes back first: nobody goes on unseen.
  await page.keyboard.press('b');
  await page.keyboard.press('PageDown');
  await expect(place(page)).toHaveText('From ops to kernels, 1 of 6');
  // A reload does not begin again, and the window with the notes is the same.
  await page.reload();
  await expect(notes.getByRole('status').first()).toHaveText('The presentation has ended.');
  await page.getByRole('button', { name: 'Learn', exact: true }).click();
  await page.getByText('For a class: a workshop of 45, 90 or 180 minutes').click();
  await page.getByRole('button', { name: 'Go on at “From ops to kernels”' }).click();
  await expect(place(page)).toHaveText('From ops to kernels, 1 of 6');
  await expect(notes.getByRole('heading', { name: 'Every op asks memory' })).toBeVisible();
  await expect(notes.getByRole('status').first()).toBeEmpty();
  await page.keyboard.press('PageUp');
  await expect(welcome).toBeVisible();
  // The speaker goes to a lesson by the plan, and the workshop goes on from there.
  await notes.getByRole('button', { name: 'The roofline' }).click();
  await expect(place(page)).toHaveText(/^The roofline, 1 of \d/);
  await expect(notes.locator('.plan tr[aria-current]')).toContainText('The roofline');
  const exercise = slide('Your turn: fuse by hand');
  const seen = async () => `${await place(page).textContent()} ${await page.locator('.task-verdict').allTextContents()} ${await exercise.count()}`;
  let end = '';
  for (let at = 0; at < 20 && !(await exercise.count()); at += 1) {
    if (/the end$/.test(await place(page).textContent())) end = await notes.locator('.speaker-body').textContent();
    const before = await seen();
    await page.keyboard.press('PageDown');
    await expect.poll(seen).not.toBe(before);
  }
  await expect(exercise).toBeVisible();
  expect(end).toMatch(/^The end of “The roofline”Ask the class .*Next: Your turn: fuse by hand$/);
  await expect(exercise.locator('.qr-link')).toHaveText(/#puzzle=two_ops$/);
  await page.keyboard.press('PageDown');
  await expect(slide('To take home')).toBeVisible();
  // The last slide stays.
  await page.keyboard.press('PageDown');
  await expect(slide('To take home')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(slide('To take home')).toHaveCount(0);
});

test('the bar goes while the mouse rests, and comes with the focus', async ({ page, open }) => {
  await page.clock.install();
  await open();
  await begin(page);
  await expect(bar(page)).toBeInViewport();
  await page.mouse.move(300, 100);
  await page.evaluate(() => document.activeElement?.blur());
  await page.clock.runFor(5000);
  await expect(bar(page)).not.toBeInViewport();
  await bar(page).getByRole('button', { name: 'Next' }).focus();
  await expect(bar(page)).toBeInViewport();
});
