// The tab that gives a reason and a price for every edge that is not fused.

import { accessibilityFindings, commandLine, expect, test } from './fixture.mjs';
import { editor, kernelButton, picker } from './visitor.mjs';

const panel = (page) => page.getByRole('tabpanel', { name: 'Why not' });
const rows = (page) => panel(page).locator('tbody tr');
const open = async (page) => page.getByRole('tab', { name: 'Why not' }).click();
const answer = (page) => panel(page).getByRole('status');

test.beforeEach(async ({ open }) => { await open(); });

test('every crossing edge has a row with a reason and a price, dearest first', async ({ page }) => {
  const report = commandLine(['analyze', '-'], await editor(page).inputValue());
  const crossing = report.edges.filter((edge) => !edge.fused);
  await open(page);
  await expect(rows(page)).toHaveCount(crossing.length);
  const names = await panel(page).locator('tbody button').allTextContents();
  const wanted = crossing.map((edge) => `${edge.producer} → ${edge.consumer}`);
  expect([...names].sort()).toEqual([...wanted].sort());
  const dearest = Math.max(...crossing.map((edge) => edge.saved_bytes));
  expect(crossing.find((edge) => `${edge.producer} → ${edge.consumer}` === names[0]).saved_bytes).toBe(dearest);
  await expect(rows(page).first()).toContainText(/[\d.]+ MB/);
  expect(await accessibilityFindings(page)).toEqual([]);
});

test('a row selects its two ops in the graph, and again nothing', async ({ page }) => {
  await open(page);
  const edge = page.getByRole('button', { name: 'attn_scores → softmax', exact: true });
  await edge.focus();
  await page.keyboard.press('Enter');
  await expect(edge).toHaveAttribute('aria-pressed', 'true');
  const ops = page.getByRole('region', { name: 'Graph' }).locator('.dag-op-box[aria-pressed="true"]');
  await expect(ops).toHaveCount(2);
  await expect(edge).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(ops).toHaveCount(0);
});

test('an edge that is selected in the graph is selected in the table, and nothing scrolls away from the graph', async ({ page }) => {
  await open(page);
  await page.locator('.dag-size-label.is-shown').first().click();
  await expect(panel(page).locator('tr.is-selected')).toHaveCount(1);
  await expect(page.getByRole('region', { name: 'split_heads → attn_scores' })).toBeInViewport();
});

test('any two ops have an answer', async ({ page }) => {
  await open(page);
  // Before anybody asks it is about the dearest edge.
  await expect(answer(page)).toContainText(/^Apart: .*softmax/);
  await picker(page, 'one op').selectOption({ label: 'qkv_proj' });
  await picker(page, 'another op').selectOption({ label: 'split_heads' });
  await expect(answer(page)).toHaveText('They run in one kernel.');
  await picker(page, 'another op').selectOption({ label: 'out_proj' });
  await expect(answer(page)).toContainText(/^Apart: a kernel runs one matmul.*Fusing them alone would/);
  await picker(page, 'Fusion').selectOption('none');
  await picker(page, 'another op').selectOption({ label: 'split_heads' });
  await expect(answer(page)).toContainText('this policy does not try it');
  await page.getByRole('tab', { name: 'Kernels' }).click();
  await expect(kernelButton(page, 1)).toBeVisible();
});
