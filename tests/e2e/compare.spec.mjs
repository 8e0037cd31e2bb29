// The tab on which all policies stand side by side.

import { accessibilityFindings, commandLine, expect, test } from './fixture.mjs';
import { choosePolicy, editor, headlineBytes, policyChoice, slider, untilStored } from './visitor.mjs';

const panel = (page) => page.getByRole('tabpanel', { name: 'Compare' });
const row = (page, policy) => panel(page).getByRole('row').filter({ has: page.getByRole('button', { name: policy, exact: true }) });
/** The policies of the command line, and what the page calls them. */
const POLICIES = { none: 'no fusion', rules: 'textbook rules', inductor: 'torch.compile', optimal: 'fewest bytes' };

test.beforeEach(async ({ page, open }) => {
  await open();
  await page.getByRole('tab', { name: 'Compare' }).click();
});

test('each policy has the numbers of the command line, ranked by bytes or by time', async ({ page }) => {
  const names = () => panel(page).locator('tbody button[aria-pressed]').allTextContents();
  const text = await editor(page).inputValue();
  for (const by of ['time', 'bytes']) {
    await panel(page).getByRole('columnheader', { name: by }).getByRole('button').click();
    const { policies } = commandLine(['analyze', '-', '--compare', by], text);
    await expect.poll(names).toEqual(policies.map(({ policy }) => POLICIES[policy]));
  }
  for (const [policy, title] of Object.entries(POLICIES)) {
    const report = commandLine(['analyze', '-', '--policy', policy], text);
    const exact = await row(page, title).locator('[title$=" B"]').getAttribute('title');
    expect(Number(exact.replace(/\D/g, '')), policy).toBe(report.fused_traffic.total);
  }
  await expect(row(page, 'fewest bytes')).toContainText('proven optimal: no kernels that the search allows');
  await expect(row(page, 'no fusion')).toContainText('separate');
  // A policy of the visitor's own joins them once it is chosen.
  expect(await names()).not.toContain('by hand');
  await choosePolicy(page, 'manual');
  await expect.poll(names).toContain('by hand');
});

test('a policy is chosen by its row and by its markers on one roofline, by pointer and by keys', async ({ page }) => {
  await expect(page.getByRole('button', { name: 'textbook rules', exact: true })).toHaveAttribute('aria-pressed', 'true');
  await row(page, 'torch.compile').getByRole('cell').last().click();
  await expect(policyChoice(page, 'inductor')).toBeChecked();
  await expect(page.getByRole('button', { name: 'torch.compile', exact: true })).toHaveAttribute('aria-pressed', 'true');
  await page.getByRole('button', { name: 'no fusion', exact: true }).focus();
  await page.keyboard.press('Enter');
  await expect(policyChoice(page, 'none')).toBeChecked();
  await expect(page.getByRole('button', { name: 'no fusion', exact: true })).toBeFocused();
  await expect(row(page, 'no fusion')).toContainText('the chosen policy');

  const marker = (policy) => panel(page).getByRole('button', { name: new RegExp(`^${policy}, kernel 1:`) });
  await expect(marker('fewest bytes')).toHaveCount(0);
  await page.getByRole('checkbox', { name: 'All policies on one roofline' }).check();
  for (const policy of Object.values(POLICIES)) {
    await expect(panel(page).getByRole('listitem').filter({ hasText: policy })).toBeVisible();
    await expect(marker(policy)).toBeVisible();
  }
  expect(await accessibilityFindings(page)).toEqual([]);
  await marker('fewest bytes').focus();
  await page.keyboard.press('Enter');
  await expect(policyChoice(page, 'optimal')).toBeChecked();
});

test('the table follows a slider, the open tab survives a reload, and other tabs work with the arrow keys', async ({ page }) => {
  const bytes = () => row(page, 'no fusion').locator('[title$=" B"]').getAttribute('title');
  const before = await bytes();
  await slider(page, 'S').focus();
  await page.keyboard.press('ArrowRight');
  await expect.poll(bytes).not.toBe(before);
  const { unfused } = await headlineBytes(page);
  expect(Number((await bytes()).replace(/\D/g, ''))).toBe(unfused);
  await untilStored(page, 'tab=compare');
  await page.reload();
  const tab = page.getByRole('tab', { name: 'Compare' });
  await expect(tab).toHaveAttribute('aria-selected', 'true');
  await tab.focus();
  await page.keyboard.press('ArrowLeft');
  await expect(page.getByRole('tab', { name: 'What to do' })).toBeFocused();
  await page.keyboard.press('ArrowLeft');
  await expect(page.getByRole('tab', { name: 'Steps' })).toBeFocused();
  await expect(panel(page)).toBeHidden();
  await expect(page.getByRole('tabpanel', { name: 'Steps' })).toBeVisible();
});

test('the policy is compared on every GPU, and a row chooses one', async ({ page }) => {
  const text = await editor(page).inputValue();
  await panel(page).getByLabel('This policy on every GPU').check();
  const devices = panel(page).getByRole('group', { name: 'Table of GPUs' });
  const rows = devices.getByRole('row');
  const { devices: reports } = commandLine(['analyze', '-', '--device', 'a100-80,h200,mi300x'], text);
  await expect(rows.nth(1)).toContainText('A100 SXM 80GB');
  // A time is predicted where the device was measured.
  for (const [name, { predicted_s }] of [['A100 SXM 80GB', reports[0]], ['H200', reports[1]], ['MI300X', reports[2]]]) {
    const cells = rows.filter({ has: page.getByRole('button', { name, exact: true }) }).getByRole('cell');
    await expect(cells.nth(3)).toHaveText(predicted_s === null ? '–' : /µs|ms/);
  }
  const slower = rows.filter({ has: page.getByRole('button', { name: 'MI300X', exact: true }) });
  await expect(slower).toContainText('by lower bounds');
  expect(await accessibilityFindings(page)).toEqual([]);
  // The page now shows the other GPU, which comes first.
  await slower.getByRole('button').press('Enter');
  await expect(slower.getByRole('button')).toHaveAttribute('aria-pressed', 'true');
  await expect(rows.nth(1)).toContainText('MI300X');
  await expect(rows.nth(0)).toContainText('than MI300X');
});
