// The pane of a lesson: what answers a press is in sight, a first wrong answer leaves the task
// open, and there is a way back.

import { expect, test } from './fixture.mjs';
import { openEmpty } from './shared_page.mjs';
import { editor, policyChoice, put, slider, viewSwitch } from './visitor.mjs';

const panel = (page) => page.getByRole('region', { name: 'Learn' });
const heading = (page, name) => panel(page).getByRole('heading', { level: 4, name });
const button = (page, name) => panel(page).getByRole('button', { name, exact: true });
const verdict = (page) => panel(page).locator('.task-verdict');
const again = (page) => panel(page).locator('.task-again');
const foot = (page) => panel(page).locator('.lesson-foot');
const hint = (page) => panel(page).locator('.task-hint');
const learn = (page) => page.getByRole('button', { name: 'Learn', exact: true });
const fold = (page) => page.getByRole('button', { name: 'Program', exact: true });

/** Whether all of an element is between the top of the pane and the foot of the lesson. */
const isInSight = (page, part) => expect.poll(async () => {
  const [box, below, above] = [await part.boundingBox(), await foot(page).boundingBox(), await panel(page).boundingBox()];
  return box.y >= above.y - 1 && box.y + box.height <= below.y + 1 && below.y + below.height <= 769;
}).toBe(true);

const isFilled = (part) => part.evaluate((element) => {
  const accent = getComputedStyle(document.documentElement).getPropertyValue('--accent');
  const probe = document.createElement('i');
  probe.style.color = accent;
  document.body.append(probe);
  const wanted = getComputedStyle(probe).color;
  probe.remove();
  return getComputedStyle(element).backgroundColor === wanted;
});

test('what is said about an answer is in sight, with the hint and the way to the answer', async ({ page, open }) => {
  await open('#lesson=exercise.1');
  await expect(heading(page, 'Every op asks memory')).toBeVisible();
  const answer = panel(page).getByRole('textbox');
  await expect(answer).toHaveAttribute('placeholder', /^\D+$/);
  for (const press of [() => page.keyboard.press('Enter'), () => button(page, 'Predict').click()]) {
    await answer.fill('5');
    await page.locator('.lesson-body').evaluate((scroller) => { scroller.scrollTop = 0; });
    await press();
    await expect(panel(page).getByRole('alert')).toHaveText('write the unit, too, such as 1.2 GB');
    await isInSight(page, panel(page).getByRole('alert'));
    await isInSight(page, button(page, 'Show me'));
  }
  await hint(page).locator('summary').click();
  await isInSight(page, hint(page));

  // What was said about a wrong answer is not about one that cannot be read.
  await answer.fill('5 MB');
  await page.keyboard.press('Enter');
  await expect(again(page)).toHaveText('Not quite. The answer is larger.');
  await answer.fill('5');
  await page.keyboard.press('Enter');
  await expect(panel(page).getByRole('alert')).toHaveText('write the unit, too, such as 1.2 GB');
  await expect(again(page)).toBeEmpty();
});

test('the first wrong answer gets the hint, the second one the solution', async ({ page, open }) => {
  await open('#lesson=exercise.2');
  const answer = panel(page).getByRole('textbox');
  await answer.fill('1');
  await page.keyboard.press('Enter');
  await expect(again(page)).toHaveText('Not quite. One kernel would have two matmuls. Which rule speaks against that?');
  await isInSight(page, again(page));
  await expect(hint(page)).toHaveAttribute('open', '');
  await expect(verdict(page)).toBeEmpty();
  await expect(policyChoice(page, 'none')).toBeChecked();
  await expect(button(page, 'Skip')).toBeVisible();
  // The wrong answer is selected: what is typed next replaces it.
  await expect(answer).toBeFocused();
  await page.keyboard.type('3');
  await page.keyboard.press('Enter');
  await expect(verdict(page)).toContainText('Not quite. The answer is 2.');
  await expect(again(page)).toBeEmpty();

  await button(page, 'Try again').click();
  await expect(answer).toBeFocused();
  expect(await answer.evaluate((field) => [field.value, field.selectionStart, field.selectionEnd])).toEqual(['3', 0, 1]);
  await page.keyboard.type('2');
  await page.keyboard.press('Enter');
  await expect(verdict(page)).toContainText('Right: 2.');
});

test('a wrong choice can be chosen anew at once', async ({ page, open }) => {
  await open('#lesson=exercise.4');
  await panel(page).getByRole('radio', { name: 'To the left' }).check();
  await button(page, 'Answer').click();
  await expect(again(page)).toHaveText('Not quite. Further left means fewer FLOPs per byte. The FLOPs stay: what happens to the bytes?');
  await expect(panel(page).getByRole('radio', { name: 'To the left' })).toBeFocused();
  await panel(page).getByRole('radio', { name: 'To the right' }).check();
  await button(page, 'Answer').click();
  await expect(verdict(page)).toContainText('Right:');
});

test('a goal says what is, and a done task at which value and why', async ({ page, open }) => {
  await open('#lesson=exercise.5');
  const goal = panel(page).locator('.task-wanted li');
  await expect(goal).toHaveText('Goal: kernel 1 is memory-bound. Now: compute-bound.');
  expect(await goal.evaluate((item) => getComputedStyle(item, '::before').content)).toBe('none');
  await slider(page, 'B').focus();
  await page.keyboard.press('Home');
  await expect(verdict(page)).toContainText('You reached the goal at B = 16: there, matmul1 + bias1 + relu is memory-bound. Its');
});

test('the button of the step is the filled one, and not the one that passes it', async ({ page, open }) => {
  await open('#lesson=exercise.1');
  expect(await isFilled(button(page, 'Predict'))).toBe(true);
  expect(await isFilled(button(page, 'Skip'))).toBe(false);
  await panel(page).getByRole('textbox').fill('16.8 MB');
  await page.keyboard.press('Enter');
  await expect.poll(() => isFilled(button(page, 'Next'))).toBe(true);
});

test('a page that has changed since the step began is told', async ({ page, open }) => {
  await open('#lesson=exercise.1');
  const told = panel(page).getByText('You changed the page.');
  await expect(heading(page, 'Every op asks memory')).toBeVisible();
  await expect(told).toHaveCount(0);
  await page.keyboard.press('Control+Enter');
  await expect(told).toBeVisible();
  await button(page, 'Reset this step').click();
  await expect(told).toHaveCount(0);
  await expect(policyChoice(page, 'none')).toBeChecked();
  // A step whose task is to change the page.
  await panel(page).getByRole('button', { name: /^Step 5/ }).click();
  await slider(page, 'B').focus();
  await page.keyboard.press('ArrowLeft');
  await expect(told).toHaveCount(0);
});

test('a double click goes one step on, not two', async ({ page, open }) => {
  await open();
  await page.getByRole('button', { name: 'Learn', exact: true }).click();
  await panel(page).getByRole('button', { name: /From ops to kernels/ }).click();
  await panel(page).getByRole('button', { name: 'Skip' }).dblclick();
  await expect(panel(page).getByRole('button', { name: /^Step 2/ })).toHaveAttribute('aria-current', 'step');
});

test('leaving a lesson brings back the program, the choices and the pane from before it', async ({ page, visit, site }) => {
  await openEmpty(page, site);
  await page.evaluate(() => { localStorage.setItem('fuseline.ops-open', 'false'); });
  await visit();
  await expect(viewSwitch(page, 'Unfused')).toBeChecked();
  await page.getByRole('button', { name: 'Fuse', exact: true }).click();
  await page.getByRole('button', { name: /^New to fusion/ }).click();
  await expect(heading(page, 'Every op asks memory')).toBeVisible();
  await button(page, 'Step 5: Drag a size').click();
  await button(page, 'Back to your program').click();
  await expect(panel(page)).toHaveCount(0);
  await expect(fold(page)).toHaveAttribute('aria-expanded', 'false');
  await expect(viewSwitch(page, 'Fused')).toBeChecked();
  await expect(page.getByRole('button', { name: /^New to fusion/ })).toBeVisible();

  // Also after a reload.
  await page.getByRole('button', { name: /^New to fusion/ }).click();
  await expect(heading(page, 'Every op asks memory')).toBeVisible();
  await expect.poll(() => page.evaluate(() => localStorage.getItem('fuseline.lessons'))).toContain('"before":"');
  await page.reload();
  await expect(heading(page, 'Every op asks memory')).toBeVisible();
  await button(page, 'Back to your program').click();
  await expect(page.getByRole('button', { name: /^New to fusion/ })).toBeVisible();
});

test('after a lesson the page is at its top, and its graph fits its frame', async ({ page, visit, site }) => {
  await openEmpty(page, site);
  await page.evaluate(() => { localStorage.setItem('fuseline.ops-open', 'false'); });
  await visit();
  const seen = () => page.locator('.dag-parts').getAttribute('transform');
  const frame = () => page.locator('svg.dag').evaluate((graph) => graph.getBoundingClientRect().width);
  await page.getByRole('button', { name: 'Fuse', exact: true }).click();
  await expect(viewSwitch(page, 'Fused')).toBeChecked();
  const [before, width] = [await seen(), await frame()];
  await page.getByRole('button', { name: /^New to fusion/ }).click();
  await expect(heading(page, 'Every op asks memory')).toBeVisible();
  await button(page, 'Step 6: Do it by hand').click();
  await expect(heading(page, 'Do it by hand')).toBeVisible();
  // What was pressed in the graph takes the focus when the button of the lesson goes.
  await page.locator('.dag-op').nth(1).click();
  await page.evaluate(() => scrollTo(0, 200));
  await button(page, 'Back to your program').click();
  await expect.poll(frame).toBe(width);
  await expect.poll(seen).toBe(before);
  expect(await page.evaluate(() => scrollY)).toBe(0);
});

test('where the visitor moved the graph to outlives another size of its frame', async ({ page, open }) => {
  await open();
  await put(page, 'input x : f16[64, 64]\ny = relu(x)\n');
  await page.getByRole('button', { name: 'Zoom in' }).click();
  const seen = () => page.locator('.dag-parts').getAttribute('transform');
  const zoomed = await seen();
  await fold(page).click();
  await expect(fold(page)).toHaveAttribute('aria-expanded', 'false');
  await expect.poll(() => page.locator('svg.dag').evaluate((graph) => graph.getBoundingClientRect().width)).toBeGreaterThan(600);
  expect(await seen()).toBe(zoomed);
});

test('a text of one\'s own that a lesson shows, too, keeps its choices', async ({ page, open }) => {
  await open();
  await page.getByRole('combobox', { name: 'Example' }).selectOption({ label: 'Four ops' });
  const text = await editor(page).inputValue();
  await put(page, text);
  await expect(policyChoice(page, 'none')).not.toBeChecked();
  const policy = await page.locator('.policies input:checked').getAttribute('value');
  await learn(page).click();
  await panel(page).getByRole('button', { name: /From ops to kernels/ }).click();
  await expect(policyChoice(page, 'none')).toBeChecked();
  await button(page, 'Back to your program').click();
  await expect(editor(page)).toHaveValue(text);
  await expect(policyChoice(page, policy)).toBeChecked();
});

test('Learn leads to the lists and back, also out of a lesson, and a lesson gives the page to its program', async ({ page, open }) => {
  await open();
  await put(page, 'mine = relu(x) : f16[64]\n');
  await learn(page).click();
  await expect(panel(page)).toBeVisible();
  await expect(editor(page)).toBeHidden();
  await learn(page).click();
  await expect(panel(page)).toHaveCount(0);
  await expect(editor(page)).toBeVisible();

  await learn(page).click();
  await panel(page).getByRole('button', { name: /From ops to kernels/ }).click();
  await button(page, 'Whole page').click();
  await expect(panel(page)).toHaveCount(0);
  await expect(page.locator('.headline')).toBeVisible();
  await expect(editor(page)).toHaveValue(/matmul1/);
  await learn(page).click();
  await expect(heading(page, 'Every op asks memory')).toBeVisible();
  await learn(page).click();
  await expect(panel(page).getByRole('heading', { name: 'Puzzles' })).toBeVisible();
  await learn(page).click();
  await expect(panel(page)).toHaveCount(0);
  await expect(editor(page)).toHaveValue('mine = relu(x) : f16[64]\n');
});

test('after the first lesson the opening program leads to the next one', async ({ page, visit, site }) => {
  await openEmpty(page, site);
  await page.evaluate(() => {
    localStorage.setItem('fuseline.lessons', JSON.stringify({ ended: { exercise: { 0: 'right', 1: 'right', 2: 'nudged', 3: 'shown', 4: 'right', 5: 'right' } } }));
  });
  await visit();
  await page.getByRole('button', { name: 'Fuse', exact: true }).click();
  await page.getByRole('button', { name: /^Next lesson: The roofline, \d+ minutes$/ }).click();
  await expect(heading(page, 'Two ceilings')).toBeVisible();
});

test('a step begins at its top', async ({ page, open }) => {
  await open('#lesson=exercise.4');
  await panel(page).getByRole('radio', { name: 'To the right' }).check();
  await button(page, 'Answer').click();
  await button(page, 'Next').click();
  await expect(heading(page, 'Drag a size')).toBeFocused();
  await isInSight(page, panel(page).locator('.lesson-steps'));
});
