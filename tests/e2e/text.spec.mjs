// The op list as text: kernels follow each edit, mistakes are named where they stand, nothing is
// lost.

import { expect, test } from './fixture.mjs';
import { chooseExample, editor, headlineBytes, kernels, notice, paste, picker, problemList, put, result, stopClock, write } from './visitor.mjs';

const THREE_OPS = `input x : f16[1024, 1024]
weight w : f16[1024, 1024]
up:  y = matmul(x, w)
act: z = relu(y)
`;

test.beforeEach(async ({ open }) => { await open(); });

test('an edit changes the kernels', async ({ page }) => {
  await write(page, THREE_OPS);
  await expect.poll(() => kernels(page)).toEqual([['up', 'act']]);
  const megabytes = 1024 * 1024 * 2;
  expect(await headlineBytes(page)).toEqual({ unfused: 5 * megabytes, fused: 3 * megabytes, saved: 2 * megabytes });

  await editor(page).press('ControlOrMeta+End');
  await page.keyboard.type('sum: s = sum(z)\n');
  await expect.poll(() => kernels(page)).toEqual([['up', 'act'], ['sum']]);
  await expect(problemList(page).getByRole('listitem')).toHaveCount(0);
});

test('where no text was good before, the lines that can be read are shown, and it is said so', async ({ page }) => {
  await write(page, '');
  await write(page, 'input x : f16[1024, 1024]\ny = rleu(x)\nz = bmm(x, x)\nu = torch.relu(x)\n');
  await expect.poll(() => kernels(page)).toEqual([['z'], ['u']]);
  await expect(page.getByText('The page shows only the lines without errors.')).toBeVisible();
  // Those of the present text, not of the first one with an error.
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.type('v = exp(u)\n');
  await expect.poll(() => kernels(page)).toEqual([['z'], ['u', 'v']]);
  await write(page, THREE_OPS);
  await write(page, THREE_OPS.replace('relu', 'reluu'));
  await expect(page.getByText('The page shows the last text without errors.')).toBeVisible();
});

test('of another program with an error the lines that can be read are shown, not the program before it', async ({ page }) => {
  await write(page, THREE_OPS);
  await expect.poll(() => kernels(page)).toEqual([['up', 'act']]);
  await write(page, 'input image : f16[64, 64]\nedges = exp(image)\nblurred = blurr(image)\n');
  await expect.poll(() => kernels(page)).toEqual([['edges']]);
  await expect(page.getByText('The page shows only the lines without errors.')).toBeVisible();
});

test('a broken line is named, leads to its place, and leaves the last good picture', async ({ page }) => {
  await write(page, THREE_OPS);
  const before = await headlineBytes(page);
  await write(page, THREE_OPS.replace('relu', 'reluu'));
  const problem = problemList(page).getByRole('listitem').first();
  await expect(problem).toContainText('4:');
  await expect(problem).toContainText('reluu');
  await expect(problem).toContainText('relu');
  await expect(page.getByText('The page shows the last text without errors.')).toBeVisible();
  await expect(editor(page)).toHaveAttribute('aria-invalid', 'true');
  expect(await kernels(page)).toEqual([['up', 'act']]);
  expect(await headlineBytes(page)).toEqual(before);
  const grey = page.locator('.is-stale');
  await expect(grey).toHaveClass([/^headline/, /^policies/, /^graph-slot/, /^charts/, /^panel results/]);

  await problem.getByRole('button', { name: /^error/ }).click();
  await expect(editor(page)).toBeFocused();
  expect(await editor(page).evaluate((area) => area.value.slice(area.selectionStart, area.selectionEnd))).toBe('reluu');

  await write(page, THREE_OPS);
  await expect(page.getByText('The page shows the last text without errors.')).toBeHidden();
  await expect(grey).toHaveCount(0);
  await expect(problemList(page).getByRole('listitem')).toHaveCount(0);
});

test('an undeclared tensor is a warning that says how to declare it', async ({ page }) => {
  await write(page, 'y = add(x, b) : f16[64, 64]\n');
  const warnings = problemList(page).getByRole('listitem').filter({ hasText: 'warning' });
  await expect(warnings.first()).toContainText(/input \w+ ?: f16\[64, 64\]/);
  await expect.poll(() => kernels(page)).toHaveLength(1);
});

test('undo and redo, by buttons and by keys', { tag: '@firefox' }, async ({ page }) => {
  const [undo, redo] = [page.getByRole('button', { name: 'Undo', exact: true }), page.getByRole('button', { name: 'Redo', exact: true })];
  const start = await editor(page).inputValue();
  await expect(undo).toBeHidden();
  await write(page, THREE_OPS);
  await expect(undo).toBeEnabled();
  await undo.click();
  await expect(editor(page)).toHaveValue(start);
  await expect.poll(() => kernels(page)).toHaveLength(9);
  await redo.click();
  await expect(editor(page)).toHaveValue(THREE_OPS);
  await expect.poll(() => kernels(page)).toHaveLength(1);

  await editor(page).focus();
  await page.keyboard.press('ControlOrMeta+z');
  await expect(editor(page)).toHaveValue(start);
  await page.keyboard.press('ControlOrMeta+Shift+z');
  await expect(editor(page)).toHaveValue(THREE_OPS);
  await page.keyboard.press('ControlOrMeta+z');
  await page.keyboard.press('ControlOrMeta+y');
  await expect(editor(page)).toHaveValue(THREE_OPS);
});

test('undo puts the caret at the end of what changed, and leaves a selection alone that is made after it', { tag: '@firefox' }, async ({ page }) => {
  await write(page, THREE_OPS);
  await picker(page, 'Type').selectOption('f32');
  await expect(editor(page)).toHaveValue(THREE_OPS.replaceAll('f16', 'f32'));
  await editor(page).press('ControlOrMeta+Home');
  /** What is selected some frames after an undo, of which `select` is the next event. */
  const selectedAfterUndo = (select) => editor(page).evaluate(async (area, select) => {
    area.dispatchEvent(new KeyboardEvent('keydown', { key: 'z', ctrlKey: true, bubbles: true }));
    await new Promise((done) => { setTimeout(done); });
    if (select) area.setSelectionRange(...select);
    for (let frame = 0; frame < 3; frame += 1) await new Promise((done) => { requestAnimationFrame(done); });
    return [area.selectionStart, area.selectionEnd];
  }, select);
  const end = THREE_OPS.lastIndexOf('f16') + 'f16'.length;
  expect(await selectedAfterUndo(null)).toEqual([end, end]);
  await expect(editor(page)).toHaveValue(THREE_OPS);
  await editor(page).press('ControlOrMeta+y');
  expect(await selectedAfterUndo([0, 5])).toEqual([0, 5]);
});

test('undo and redo bring the example back with its text', async ({ page }) => {
  await stopClock(page);
  await chooseExample(page, 'Diamond');
  await editor(page).press('ControlOrMeta+a');
  await page.keyboard.type('y = relu(x)');
  await expect(picker(page, 'Example')).toHaveValue('');
  for (const [keys, example] of [['z', 'diamond'], ['z', 'transformer'], ['Shift+z', 'diamond'], ['Shift+z', '']]) {
    await page.keyboard.press(`ControlOrMeta+${keys}`);
    await expect(picker(page, 'Example')).toHaveValue(example);
  }
  await page.keyboard.press('ControlOrMeta+z');
  const watch = page.locator('.strip-standing');
  await expect(watch).toContainText('What to watch: A tensor with two readers');
  await page.keyboard.press('ControlOrMeta+z');
  await expect(watch).toContainText('What to watch: Drag S: by the textbook rules');
});

test('the text survives a reload', { tag: '@firefox' }, async ({ page }) => {
  await write(page, THREE_OPS);
  await page.reload();
  await expect(editor(page)).toHaveValue(THREE_OPS);
  await expect.poll(() => kernels(page)).toEqual([['up', 'act']]);
});

test('a broken text survives a reload too', async ({ page }) => {
  await write(page, 'y = = relu(');
  await page.reload();
  await expect(editor(page)).toHaveValue('y = = relu(');
  await expect(problemList(page).getByRole('listitem').first()).toContainText('error');
});

const OP_LINES = 'Op("matmul1", "matmul", ["x", "w1"], "y1", (1024, 4096), 2)\nOp("relu", "elementwise", ["y1"], "y2", (1024, 4096), 2)\n';

test('the two other forms become notation', async ({ page }) => {
  const json = JSON.stringify(['one', 'two'].map((name, i) => (
    { name, op_type: 'elementwise', inputs: [`t${i}`], output: `t${i + 1}`, shape: [8, 8], bytes_per_element: 4 })));
  for (const [form, groups] of [[OP_LINES, [['matmul1', 'relu']]], [json, [['one', 'two']]]]) {
    await editor(page).focus();
    await page.keyboard.press('ControlOrMeta+a');
    await paste(page, form);
    await expect.poll(() => kernels(page)).toEqual(groups);
  }
});

test('pasted ops go in at the caret or replace what is selected', async ({ page }) => {
  await chooseExample(page, 'Diamond');
  const diamond = await editor(page).inputValue();
  await editor(page).press('ControlOrMeta+End');
  await paste(page, OP_LINES);
  const notation = /matmul1: y1 = matmul\(x, w1\) *: f16\[1024, 4096\]\nrelu: +y2 = \w+\(y1\) +: f16\[1024, 4096\]\n/;
  await expect(editor(page)).toHaveValue(notation);
  const joined = await editor(page).inputValue();
  expect(joined.startsWith(diamond)).toBe(true);
  await expect(picker(page, 'Example')).toHaveValue('diamond');
  await page.keyboard.press('ControlOrMeta+z');
  await expect(editor(page)).toHaveValue(diamond);

  await page.keyboard.press('ControlOrMeta+a');
  await paste(page, OP_LINES.split('\n')[0]);
  await expect.poll(() => kernels(page)).toEqual([['matmul1']]);
  await expect(picker(page, 'Example')).toHaveValue('');
  await paste(page, '[{"broken"');
  await expect(notice(page)).toContainText('This JSON is not a list of ops');
  await expect(editor(page)).toHaveValue(/\[\{"broken"\n$/);
  await page.getByRole('button', { name: 'Dismiss' }).click();
  await expect(notice(page)).toHaveText('');
});

const file = (name, content) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(content) });

test('a file is opened in any of the forms, and undo brings the text back', async ({ page }) => {
  const open = async (chosen) => {
    await page.getByText('Open', { exact: true }).click();
    await page.getByLabel('A file…').setInputFiles(chosen);
  };
  const start = await editor(page).inputValue();
  await open(file('mine.fuse', THREE_OPS.replaceAll('\n', '\r\n')));
  await expect(editor(page)).toHaveValue(THREE_OPS);
  await expect(picker(page, 'Example')).toHaveValue('');
  await open(file('ops.py', OP_LINES));
  await expect(notice(page)).toContainText('Imported 2 ops from Op(...) lines.');
  await expect.poll(() => kernels(page)).toEqual([['matmul1', 'relu']]);
  await notice(page).getByRole('button', { name: 'Undo' }).click();
  await expect(editor(page)).toHaveValue(THREE_OPS);
  await page.getByRole('button', { name: 'Undo', exact: true }).click();
  await expect(editor(page)).toHaveValue(start);
  await open(file('empty.json', '[]'));
  await expect(notice(page)).toContainText('The JSON could not be read: it contains no ops.');
  await expect(editor(page)).toHaveValue('[]');
});

test('an error that is shown while the table is open leads to its place in the text', async ({ page }) => {
  await write(page, THREE_OPS.replace('relu', 'reluu'));
  await page.getByRole('tab', { name: 'Table' }).click();
  await page.getByRole('button', { name: 'Show the error' }).click();
  await expect(editor(page)).toBeFocused();
  expect(await editor(page).evaluate((area) => area.value.slice(area.selectionStart, area.selectionEnd))).toBe('reluu');
});

test('20,000 ops, a name of 10 kB and any bytes leave a working page', async ({ page }) => {
  const many = ['input x0 : f16[8]', ...Array.from({ length: 20_000 }, (_, i) => `x${i + 1} = relu(x${i})`)].join('\n');
  await put(page, many);
  await expect(result(page)).toContainText('20,000', { timeout: 60_000 });
  const long = `input x : f16[8]\n${'n'.repeat(10_000)} = relu(x)\n`;
  await write(page, long);
  await expect.poll(() => kernels(page)).toHaveLength(1);
  await write(page, '\u0000\uFFFF🦀 ( [ " ` = : \u202E #\n'.repeat(50));
  await expect(problemList(page).getByRole('listitem').first()).toContainText('error');
  await write(page, THREE_OPS);
  await expect.poll(() => kernels(page)).toEqual([['up', 'act']]);
});
