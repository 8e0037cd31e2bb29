// The tab that gives a reason and a price for every edge that is not fused.

import { accessibilityFindings, commandLine, expect, test } from './fixture.mjs';
import { choosePolicy, editor, picker } from './visitor.mjs';

const panel = (page) => page.getByRole('tabpanel', { name: 'Why not' });
const rows = (page) => panel(page).locator('tbody tr');
const open = async (page) => page.getByRole('tab', { name: 'Why not' }).click();
const answer = (page) => panel(page).getByRole('status');

test.beforeEach(async ({ open }) => { await open(); });

test('every crossing edge has a row with a reason and a price, sorted by bytes, time or name, by pointer and by keys', async ({ page }) => {
  const report = commandLine(['analyze', '-'], await editor(page).inputValue());
  const crossing = report.edges.filter((edge) => !edge.fused);
  const nameOf = (edge) => `${edge.producer} → ${edge.consumer}`;
  await open(page);
  await expect(rows(page)).toHaveCount(crossing.length);
  await expect(rows(page).first()).toContainText(/[\d.]+ MB/);
  const listed = () => panel(page).locator('tbody button.link').allTextContents();
  expect((await listed()).sort()).toEqual(crossing.map(nameOf).sort());
  const figures = async (key) => {
    const of = new Map(crossing.map((edge) => [nameOf(edge), edge[key]]));
    return (await listed()).map((name) => of.get(name));
  };
  const descending = (of) => [...of].sort((a, b) => b - a);
  const head = (name) => panel(page).getByRole('columnheader', { name });
  await test.step('by bytes at first', async () => {
    await expect(head('memory traffic')).toHaveAttribute('aria-sort', 'descending');
    const bytes = await figures('saved_bytes');
    expect(bytes).toEqual(descending(bytes));
    expect(await accessibilityFindings(page)).toEqual([]);
  });
  await test.step('by time', async () => {
    await head('lower bound').getByRole('button').click();
    await expect(head('lower bound')).toHaveAttribute('aria-sort', 'descending');
    await expect(head('memory traffic')).not.toHaveAttribute('aria-sort');
    const times = await figures('lower_bound_saved_s');
    expect(times).toEqual(descending(times));
  });
  await test.step('by name', async () => {
    await head('edge').getByRole('button').focus();
    await page.keyboard.press('Enter');
    await expect(head('edge')).toHaveAttribute('aria-sort', 'ascending');
    expect(await listed()).toEqual((await listed()).sort());
  });
  await test.step('by bytes again', async () => {
    await head('memory traffic').getByRole('button').click();
    await expect(head('memory traffic')).toHaveAttribute('aria-sort', 'descending');
    const bytes = await figures('saved_bytes');
    expect(bytes).toEqual(descending(bytes));
  });
});

test('a question about two ops that a change fuses gives way to the first row', async ({ page }) => {
  await choosePolicy(page, 'none');
  await open(page);
  await page.getByRole('button', { name: 'ffn_up → gelu', exact: true }).click();
  await expect(picker(page, 'one op')).toHaveValue(/./);
  const asked = () => picker(page, 'one op').locator('option:checked').textContent();
  await expect.poll(asked).toBe('ffn_up');
  await page.getByRole('tab', { name: 'Kernels' }).click();
  await choosePolicy(page, 'rules');
  await open(page);
  await expect(answer(page)).toContainText(/^Separate: /);
  const first = await panel(page).locator('tbody button.link').first().textContent();
  expect(`${await asked()} → ${await picker(page, 'another op').locator('option:checked').textContent()}`).toBe(first);
});

test('a row that no order of the kernels allows has no figures, and others say what they would merge', async ({ page }) => {
  await open(page);
  const row = (name) => rows(page).filter({ has: page.getByRole('button', { name, exact: true }) });
  const impossible = row('layer_norm1 → residual_add2');
  await expect(impossible).toContainText('must run between them');
  await expect(impossible.locator('td.number')).toHaveText(['–', '–']);
  await expect(impossible.locator('td.number button')).toHaveCount(0);
  const attention = row('attn_scores → softmax');
  await expect(attention).toContainText('FlashAttention runs both in one kernel, with a running softmax, tile by tile: choose “fused attention” under Options.');
  await expect(row('gelu → ffn_down')).toContainText('With the rest of their kernels: ffn_up + gelu + ffn_down + residual_add2.');
  await expect(row('gelu → ffn_down').locator('td.number').last()).toHaveText('not known');
});

test('table, graph and question speak of the same edge', async ({ page }) => {
  await open(page);
  // Before anybody asks it is about the dearest edge.
  await expect(answer(page)).toContainText(/^Separate: .*softmax/);
  const edge = page.getByRole('button', { name: 'attn_scores → softmax', exact: true });
  const ops = page.getByRole('region', { name: 'Graph' }).locator('.dag-op-box[aria-pressed="true"]');
  await test.step('a row selects its two ops in the graph, and again nothing', async () => {
    await edge.focus();
    await page.keyboard.press('Enter');
    await expect(edge).toHaveAttribute('aria-pressed', 'true');
    await expect(ops).toHaveCount(2);
    await expect(edge).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(ops).toHaveCount(0);
  });
  await test.step('an edge of the graph is selected in the table, and nothing scrolls away from the graph', async () => {
    await page.locator('.dag-size-label.is-dram').first().click();
    await expect(panel(page).locator('tr.is-selected')).toHaveCount(1);
    await expect(page.getByRole('region', { name: 'split_heads → attn_scores' })).toBeInViewport();
    await page.keyboard.press('Escape');
  });
  await test.step('any two ops have an answer', async () => {
    await picker(page, 'one op').selectOption({ label: 'qkv_proj' });
    await picker(page, 'another op').selectOption({ label: 'split_heads' });
    await expect(answer(page)).toHaveText('They run in one kernel.');
    await picker(page, 'another op').selectOption({ label: 'out_proj' });
    await expect(answer(page)).toHaveText(/^Separate: .* must run between them\.$/);
    await picker(page, 'one op').selectOption({ label: 'ffn_up' });
    await picker(page, 'another op').selectOption({ label: 'ffn_down' });
    await expect(answer(page)).toContainText(/^Separate: a kernel runs at most one matmul.*One kernel instead would save .* Its time is unknown/);
    await picker(page, 'one op').selectOption({ label: 'qkv_proj' });
    await choosePolicy(page, 'none');
    await picker(page, 'another op').selectOption({ label: 'split_heads' });
    await expect(answer(page)).toContainText('the policy does not try it');
  });
});
