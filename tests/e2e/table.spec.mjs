// The op list as a table: each control edits the same text.

import { accessibilityFindings, expect, test } from './fixture.mjs';
import { editor, kernels, write } from './visitor.mjs';

const TEXT = `# a comment that stays
input x : f16[64, 64]
weight w : f16[64, 64]
up:  y = matmul(x, w)
act: z = relu(y)
`;

// The text area stays in the page behind the table.
const text = (page) => page.getByRole('textbox', { name: 'Operations as text', includeHidden: true }).inputValue();
const field = (page, name) => page.getByRole('textbox', { name, exact: true }).or(page.getByRole('combobox', { name, exact: true }));

test.beforeEach(async ({ open, page }) => {
  await open();
  await write(page, TEXT);
  await page.getByRole('tab', { name: 'Table' }).click();
  await expect(page.getByRole('table', { name: 'Operations as a table' })).toBeVisible();
});

test('add an op and give it a function and an input', async ({ page }) => {
  await page.getByRole('button', { name: 'Add an op', exact: true }).click();
  const rows = page.getByRole('table', { name: 'Operations as a table' }).locator('tbody').getByRole('row');
  await expect(rows).toHaveCount(3);
  const added = rows.last();
  const picker = added.getByRole('combobox', { name: /^function of/ });
  // Its options come when it is reached.
  await picker.focus();
  await picker.selectOption('gelu');
  const inputs = added.locator('.op-inputs input');
  await inputs.fill('z');
  await inputs.press('Enter');
  await expect.poll(() => text(page)).toMatch(/= gelu\(z\)/);
  await expect.poll(async () => (await kernels(page))[0]).toHaveLength(3);
  expect(await text(page)).toContain('# a comment that stays');
});

test('remove an op, and take it back', async ({ page }) => {
  await page.getByRole('button', { name: 'Remove act' }).click();
  await expect.poll(() => kernels(page)).toEqual([['up']]);
  expect(await text(page)).not.toContain('relu');
  await page.getByRole('button', { name: 'Undo', exact: true }).click();
  await expect.poll(() => text(page)).toBe(TEXT);
});

test('move an op', async ({ page }) => {
  await page.getByRole('button', { name: 'Move up: act' }).click();
  await expect.poll(async () => {
    const written = await text(page);
    return written.indexOf('relu') < written.indexOf('matmul');
  }).toBe(true);
  await expect.poll(() => kernels(page)).toEqual([['up', 'act']]);
  await page.getByRole('button', { name: 'Move down: act' }).click();
  await expect.poll(async () => {
    const written = await text(page);
    return written.indexOf('relu') > written.indexOf('matmul');
  }).toBe(true);
});

test('rename an op', async ({ page }) => {
  const name = field(page, 'name of up');
  await name.fill('project');
  await name.press('Enter');
  await expect.poll(() => kernels(page)).toEqual([['project', 'act']]);
  expect(await text(page)).toContain('project:');
});

test('retype an op: another function, another stated type', async ({ page }) => {
  const picker = page.getByRole('combobox', { name: 'function of act', exact: true });
  await picker.focus();
  await picker.selectOption('softmax');
  await expect.poll(() => kernels(page)).toEqual([['up'], ['act']]);
  const type = field(page, 'stated type of act');
  await type.fill('f16[64, 64]');
  await type.press('Enter');
  await expect.poll(() => text(page)).toMatch(/softmax\(y\) *: f16\[64, 64\]/);
  await type.fill('f16[64, 65]');
  await type.press('Enter');
  await expect(page.getByText(/\[64, 65\]/).filter({ visible: true }).first()).toBeVisible();
  await expect(page.getByText('The page shows the last text without errors.')).toBeVisible();
});

test('what cannot be taken over stays as typed and says why', async ({ page }) => {
  const name = field(page, 'name of up');
  await name.fill('act');
  await name.press('Enter');
  await expect(page.getByRole('alert').filter({ hasText: 'act' })).toBeVisible();
  await expect(name).toHaveValue('act');
  expect(await text(page)).toBe(TEXT);
  await name.press('Escape');
  await expect(field(page, 'name of up')).toHaveValue('up');
});

test('the table follows the text', async ({ page }) => {
  await page.getByRole('tab', { name: 'Text' }).click();
  await write(page, `${TEXT}last: q = exp(z)\n`);
  await page.getByRole('tab', { name: 'Table' }).click();
  await expect(field(page, 'name of last')).toHaveValue('last');
  await expect(editor(page)).toBeHidden();
});

test('tensors are declared, renamed and typed in the table, and their readers follow', async ({ page }) => {
  await page.getByText('2 declared tensors').click();
  const tensors = page.getByRole('table', { name: 'Tensors that the program is given' });
  await expect(tensors.locator('tbody').getByRole('row')).toHaveCount(2);
  const name = field(page, 'name of w');
  await name.fill('scale');
  await name.press('Enter');
  await expect.poll(() => text(page)).toContain('matmul(x, scale)');
  await expect(field(page, 'name of scale')).toBeFocused();
  await page.getByRole('combobox', { name: 'role of x' }).selectOption('weight');
  await expect.poll(() => text(page)).toContain('weight x : f16[64, 64]');
  await page.getByRole('button', { name: 'Declare a tensor' }).click();
  await expect(field(page, 'name of x3')).toBeFocused();
  const type = field(page, 'type and shape of x3');
  await type.fill('f32[64');
  await type.press('Enter');
  await expect(page.getByRole('alert').filter({ hasText: ']' })).toBeVisible();
  await type.fill('f32[64]');
  await type.press('Enter');
  await expect.poll(() => text(page)).toContain('input x3 : f32[64]');
  await page.getByRole('button', { name: 'Remove x3' }).click();
  await expect.poll(() => text(page)).not.toContain('x3');
  await expect(page.getByRole('button', { name: 'Declare a tensor' })).toBeFocused();
  expect(await accessibilityFindings(page)).toEqual([]);
});

test('the columns have heads that can be seen', async ({ page }) => {
  for (const head of ['name', 'function', 'inputs', 'type and shape']) {
    await expect(page.getByRole('table', { name: 'Operations as a table' }).getByRole('columnheader', { name: head })).toBeVisible();
  }
});
