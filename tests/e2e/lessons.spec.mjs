// Lessons: the page asks and answers; progress stays; a teacher's own file is edited, linked and
// mended.

import { accessibilityFindings, expect, findingsInBothColours, test } from './fixture.mjs';
import { copyLink, covered, editor, followLink, policyChoice, put } from './visitor.mjs';

const panel = (page) => page.getByRole('region', { name: 'Learn' });
const heading = (page, name) => panel(page).getByRole('heading', { level: 4, name });
const button = (page, name) => panel(page).getByRole('button', { name, exact: true });
const verdict = (page) => panel(page).locator('.task-verdict');
const kernels = (page) => page.locator('.claim');

async function openLessons(page) {
  await page.getByRole('button', { name: 'Learn', exact: true }).click();
  await expect(panel(page)).toBeVisible();
}

test('a lesson from its first step to its last: predict, choose, drag, merge', async ({ page, open }) => {
  await open();
  await openLessons(page);
  await panel(page).getByRole('button', { name: /From ops to kernels/ }).click();
  await expect(heading(page, 'Every op asks memory')).toBeFocused();
  await expect(policyChoice(page, 'none')).toBeChecked();
  // The lesson has the page: the picture of the step beside it, and nothing that gives the answer
  // away.
  await expect(page.locator('.graph')).toBeVisible();
  for (const part of ['.headline', '.policies', '.sliders', '.chart-panel', '.results', '.graph .switch']) {
    await expect(page.locator(part).first()).toBeHidden();
  }

  // What cannot be read is told, and nothing is lost.
  const answer = panel(page).getByRole('textbox');
  await answer.fill('many');
  await button(page, 'Predict').click();
  await expect(panel(page).getByRole('alert')).toHaveText('write a number, such as 1.2 GB');
  await answer.fill('16.8 MB');
  await page.keyboard.press('Enter');
  await expect(verdict(page)).toContainText('Right: 16.8 MB');
  await button(page, 'Next').click();

  // A prediction that is wrong twice is shown why, and the page shows what is so.
  await expect(heading(page, 'Which ops may share a kernel?')).toBeFocused();
  await answer.fill('1');
  await button(page, 'Predict').click();
  await button(page, 'Predict').click();
  await expect(verdict(page)).toContainText('Not quite. The answer is 2. The 2 kernels are');
  await expect(verdict(page)).toContainText('a kernel runs at most one matmul, and fused they');
  await expect(policyChoice(page, 'rules')).toBeChecked();
  await button(page, 'Next').click();

  await panel(page).getByRole('checkbox', { name: 'y1' }).check();
  await button(page, 'Answer').click();
  await expect(panel(page).locator('.task-again')).toHaveText('Not quite. Something is missing.');
  await button(page, 'Answer').click();
  await expect(verdict(page)).toContainText('Not quite. The answer is y1 and y2');
  await button(page, 'Next').click();

  await panel(page).getByRole('radio', { name: 'To the right' }).check();
  await button(page, 'Answer').click();
  await expect(verdict(page)).toContainText('Right: "To the right"');
  await button(page, 'Next').click();

  await expect(panel(page).getByText('Goal:')).toHaveCount(1);
  const slider = page.getByRole('slider', { name: 'B' });
  await slider.focus();
  await page.keyboard.press('Home');
  await expect(verdict(page)).toContainText('You reached the goal at B = 16: there,');
  await button(page, 'Next').click();

  await expect(kernels(page)).toContainText('no kernels are merged by hand');
  await button(page, 'Show me').click();
  await expect(verdict(page)).toContainText('Merge matmul1, bias1 and relu into one kernel.');
  await expect(policyChoice(page, 'manual')).toBeChecked();
  // The end of the lesson: what it taught, and what was not answered at once.
  await button(page, 'To the end').click();
  const closing = panel(page).locator('.lesson-closing');
  await expect(closing.getByRole('heading', { name: 'The end of “From ops to kernels”' })).toBeFocused();
  await expect(closing.locator('.lesson-missed li')).toHaveText([
    /^Step 2: Which ops may share a kernel\? the page showed the answer$/,
    /^Step 3: What vanished the page showed the answer$/,
    /^Step 6: Do it by hand the page showed the answer$/,
  ]);
  await expect(button(page, 'Step 1: Every op asks memory (right at once)')).toHaveClass('is-right');
  await expect(button(page, 'Next lesson')).toBeVisible();
  await button(page, 'All lessons').click();
  await expect(panel(page).getByRole('button', { name: /From ops to kernels/ })).toContainText('done');
});

test('an answer brings its verdict, what follows from it and the way on into view', async ({ page, open }) => {
  await page.setViewportSize({ width: 1366, height: 768 });
  await open();
  await openLessons(page);
  await panel(page).getByRole('button', { name: /From ops to kernels/ }).click();
  await panel(page).getByRole('textbox').fill('16.8 MB');
  await page.keyboard.press('Enter');
  const closing = panel(page).locator('.lesson-after p').last();
  const box = (part) => part.boundingBox();
  await expect.poll(async () => {
    const [last, foot] = [await box(closing), await box(panel(page).locator('.lesson-foot'))];
    return last.y + last.height <= foot.y && foot.y + foot.height <= 768;
  }).toBe(true);
  await expect(verdict(page)).toBeInViewport({ ratio: 1 });
  await expect(button(page, 'Next')).toBeInViewport({ ratio: 1 });
  expect(await page.evaluate(() => scrollY), 'the top bar stays in view').toBe(0);
});

test('progress and the open step outlive a reload, and a text of one\'s own is not touched', async ({ page, open }) => {
  await open();
  await put(page, 'mine = relu(x) : f16[64]\n');
  await openLessons(page);
  await panel(page).getByRole('button', { name: /From ops to kernels/ }).click();
  await button(page, 'Step 5: Drag a size').click();
  await page.getByRole('slider', { name: 'B' }).focus();
  await page.keyboard.press('Home');
  await expect(verdict(page)).toContainText('You reached the goal at');
  // Storage is written after a pause.
  await expect.poll(() => page.evaluate(() => localStorage.getItem('fuseline.lessons'))).toContain('"exercise":{"4":"right"}');
  await page.reload();
  await expect(heading(page, 'Drag a size')).toBeVisible();
  await expect(button(page, 'Step 5: Drag a size (right at once)')).toHaveClass(/is-right/);
  await button(page, 'Back to your program').click();
  await expect(panel(page)).toHaveCount(0);
  await expect(editor(page)).toHaveValue('mine = relu(x) : f16[64]\n');
});

test('a link leads to a step', async ({ page, open }) => {
  await open('#lesson=exercise.3');
  await expect(heading(page, 'What vanished')).toBeVisible();
  await expect(panel(page).getByRole('checkbox')).toHaveCount(4);
});

test('a link to another lesson opens it over the first, and the skip link leaves it open', async ({ page, open }) => {
  await open();
  await put(page, 'x = relu(a)\n');
  const text = await editor(page).inputValue();
  await followLink(page, '#lesson=tiling.1');
  await expect(heading(page, 'A matmul in tiles')).toBeVisible();
  await covered(page, 1);
  await followLink(page, '#lesson=limits.3');
  await expect(heading(page, 'Spills')).toBeVisible();
  await covered(page, 1);
  await page.getByRole('link', { name: 'Skip to the result' }).focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => page.evaluate(() => document.activeElement.id)).toBe('main');
  // A wait for what must not come: the next event of the page is handled.
  await page.keyboard.press('Tab');
  await expect(heading(page, 'Spills')).toBeVisible();
  // *Back* leads out of the lesson, into it where it was before the skip link, and so on to the one
  // before it.
  const title = async (name) => {
    await expect(heading(page, name)).toBeVisible();
    await covered(page, 1);
  };
  const program = async () => {
    await expect(panel(page)).toHaveCount(0);
    await expect(editor(page)).toHaveValue(text);
    await covered(page, 0);
  };
  await covered(page, 1);
  await page.goBack();
  await program();
  for (const lesson of ['Spills', 'A matmul in tiles']) {
    await page.goBack();
    await title(lesson);
    await page.goBack();
    await program();
  }
  await page.goForward();
  await title('A matmul in tiles');
  await button(page, 'Back to your program').click();
  await program();
});

test('*Back* leads to a lesson that another link replaced before it was drawn', async ({ page, open }) => {
  await open();
  await page.evaluate(() => {
    const frame = requestAnimationFrame.bind(window);
    window.requestAnimationFrame = (draw) => setTimeout(() => frame(draw), 1000);
    const push = history.pushState.bind(history);
    // The page calls this when the first lesson is open.
    history.pushState = (...entry) => {
      history.pushState = push;
      push(...entry);
      location.hash = '#lesson=limits.3';
    };
    location.hash = '#lesson=tiling.1';
  });
  await expect(heading(page, 'Spills')).toBeVisible();
  await covered(page, 1);
  await page.goBack();
  await covered(page, 0);
  await page.goBack();
  await expect(heading(page, 'A matmul in tiles')).toBeVisible();
});

test('a lesson that the page does not have is told', async ({ page, open }) => {
  await open('#lesson=nothing');
  await expect(page.getByText('There is no lesson nothing on this page')).toBeVisible();
});

test('a teacher writes a lesson beside its preview and gives it away as a link', async ({ page, open, context, site }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await open();
  await openLessons(page);
  await button(page, 'Write one').click();
  const file = page.getByRole('textbox', { name: 'The lesson\'s file' });
  await expect(heading(page, 'The first step')).toBeVisible();
  const text = await file.inputValue();

  await file.fill(text.replace('## The first step', '## Three kernels?').replace('number: kernels', 'number: colours'));
  await expect(heading(page, 'Three kernels?')).toBeVisible();
  const problems = page.getByRole('list', { name: 'What is wrong in the file' });
  await expect(problems).toContainText('Line 30: `colours` cannot be read. `colours` is not a quantity: write one of bytes, reads');
  await problems.getByRole('button', { name: 'Line 30' }).click();
  expect(await file.evaluate((area) => area.value.slice(area.selectionStart, area.selectionEnd))).toBe('number: colours');

  // What only the engine can see is told after a pause.
  await file.fill(text.replace('bytes < 20 MB', 'bytes < 2 B'));
  await expect(problems).toContainText('the engine finds no way to do the task');
  await file.fill(text.replace('## The first step', '## For my class'));
  await expect(problems.getByRole('listitem')).toHaveCount(0);
  expect(await accessibilityFindings(page)).toEqual([]);

  await button(page, 'Copy a link').click();
  await expect(page.getByText('Link to this lesson copied.')).toBeVisible();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  expect(link.startsWith(`${site}#l1.`)).toBe(true);
  await page.evaluate(() => localStorage.clear());
  await page.goto('about:blank');
  await page.goto(link);
  await expect(heading(page, 'For my class')).toBeVisible();
});

for (const [name, viewport] of Object.entries({ phone: { width: 390, height: 844 }, laptop: { width: 1366, height: 768 } })) {
  test(`${name}: a step has room, and axe-core finds nothing in light and dark colours`, async ({ page, open }) => {
    await page.setViewportSize(viewport);
    await open('#lesson=exercise.2');
    await expect(heading(page, 'Which ops may share a kernel?')).toBeInViewport();
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(viewport.width);
    expect(await findingsInBothColours(page)).toEqual([]);
  });
}

test('a wrong answer can be tried again, and the last step leads to the next lesson', async ({ page, open }) => {
  await open('#lesson=exercise.2');
  await expect(heading(page, 'Which ops may share a kernel?')).toBeVisible();
  await panel(page).getByRole('textbox').fill('1');
  await button(page, 'Predict').click();
  await button(page, 'Predict').click();
  await expect(verdict(page)).toContainText('Not quite');
  await button(page, 'Try again').click();
  await expect(verdict(page)).toBeEmpty();
  await expect(policyChoice(page, 'none')).toBeChecked();
  await panel(page).getByRole('textbox').fill('2');
  await button(page, 'Predict').click();
  await expect(verdict(page)).toContainText('Right');
  await expect(button(page, 'Try again')).toHaveCount(0);

  await panel(page).getByRole('list').getByRole('button', { name: /^Step 6/ }).click();
  await button(page, 'Skip').click();
  await button(page, 'Next lesson').click();
  await expect(panel(page).getByRole('button', { name: /^Step 1/ })).toHaveAttribute('aria-current', 'step');
  await expect(panel(page).getByRole('heading', { level: 3 })).not.toHaveText('From ops to kernels');
});

test('a link to a program shows its text, and not the lesson that was open before', async ({ page, open }) => {
  await open();
  await put(page, '# Mine\ninput x: f16[64, 64]\ny = relu(x)\n');
  await page.evaluate(() => { navigator.clipboard.writeText = async (text) => { globalThis.copied = text; }; });
  await copyLink(page);
  await expect.poll(() => page.evaluate(() => globalThis.copied)).toContain('#v1.');
  const link = await page.evaluate(() => new URL(globalThis.copied).hash);
  await page.goto('about:blank');
  await open('#lesson=exercise.2');
  await expect(heading(page, 'Which ops may share a kernel?')).toBeVisible();
  await page.goto('about:blank');
  await open(link);
  await expect(editor(page)).toHaveValue(/# Mine/);
  await expect(editor(page)).toBeVisible();
  await expect(panel(page)).toBeHidden();
});
