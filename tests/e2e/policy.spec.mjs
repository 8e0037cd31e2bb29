// The fusion policies, what they may do, and what is known about their result.

import { accessibilityFindings, commandLine, expect, test } from './fixture.mjs';
import { chooseExample, choosePolicy, chooseView, copyLink, editor, fragmentOf, headlineBytes, picker, policyChoice, result, senderNote, untilStored, viewSwitch, write } from './visitor.mjs';

const optionsButton = (page) => page.locator('summary').filter({ hasText: /^Options$/ });
const option = (page, name) => page.locator('.policies').getByRole('checkbox', { name });

/** Sixty ops of which each reads some of the six before it: more ways to fuse than the budget of a search holds. */
function hardProgram(seed) {
  let state = seed;
  const random = (below) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor(state / 65536) % below;
  };
  const lines = ['input x0 : f16[1024, 1024]', 'weight w : f16[1024, 1024]'];
  for (let at = 1; at <= 60; at += 1) {
    const read = () => `x${Math.max(0, at - 1 - random(6))}`;
    const kind = random(8);
    if (kind === 0) lines.push(`x${at} = matmul(${read()}, w)`);
    else if (kind === 1) lines.push(`x${at} = softmax(${read()})`);
    else lines.push(`x${at} = add(${read()}, ${read()})`);
  }
  return `${lines.join('\n')}\n`;
}

test.beforeEach(async ({ open }) => { await open(); });

test('every policy gives the numbers of the command line', async ({ page }) => {
  const text = await editor(page).inputValue();
  const names = await page.locator('.policies input').evaluateAll((choices) => choices.map((choice) => choice.value));
  expect(names).toEqual(expect.arrayContaining(['none', 'rules', 'inductor', 'optimal']));
  for (const policy of names) {
    await choosePolicy(page, policy);
    const report = commandLine(['analyze', '-', '--policy', policy], text);
    await expect.poll(async () => (await headlineBytes(page)).fused, policy).toBe(report.fused_traffic.total);
  }
});

test('each policy says what it comes to, on one scale, and choosing another moves nothing', async ({ page }) => {
  const places = () => page.locator('.policies, .policy, .sliders, .graph, .chart-panel').evaluateAll((parts) => parts.map((part) => JSON.stringify(part.getBoundingClientRect())));
  const bar = (id) => page.locator(`.policy:has(input[value="${id}"])`);
  await expect(bar('none')).toContainText('14 kernels');
  await expect(bar('none')).toContainText('2.30 GB');
  await expect(bar('rules')).toContainText('9 kernels');
  const width = async (id) => (await bar(id).locator('.policy-bar > span').boundingBox()).width;
  expect(await width('rules') / await width('none')).toBeCloseTo(1.96 / 2.30, 1);
  const before = await places();
  for (const id of ['none', 'inductor', 'optimal', 'manual', 'rules']) {
    await choosePolicy(page, id);
    await expect(policyChoice(page, id)).toBeChecked();
    expect(await places(), id).toEqual(before);
  }
  // By the keyboard as well.
  await policyChoice(page, 'rules').focus();
  await page.keyboard.press('ArrowRight');
  await expect(policyChoice(page, 'inductor')).toBeChecked();
});

test('after no fusion, Fused goes back to the policy before', async ({ page }) => {
  await choosePolicy(page, 'inductor');
  await choosePolicy(page, 'none');
  await expect(viewSwitch(page, 'Unfused')).toBeChecked();
  await chooseView(page, 'Fused');
  await expect(policyChoice(page, 'inductor')).toBeChecked();
  await test.step('but not to marks that the text has no more', async () => {
    await choosePolicy(page, 'manual');
    await choosePolicy(page, 'none');
    await chooseView(page, 'Fused');
    await expect(policyChoice(page, 'rules')).toBeChecked();
  });
});

test('the optimum says that it is proven, and by the keyboard it can be made small in time', async ({ page }) => {
  await choosePolicy(page, 'optimal');
  const proof = page.locator('.search-result');
  await expect(proof).toHaveText('fewest bytes: proven');
  await expect(proof).toHaveAttribute('title', /^proven optimal: no kernels that the search allows .* have fewer bytes$/);
  await optionsButton(page).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('radio', { name: 'bytes', exact: true }).focus();
  await page.keyboard.press('ArrowDown');
  await expect(page.getByRole('radio', { name: 'time (lower bound)', exact: true })).toBeChecked();
  await expect(proof).toHaveAttribute('title', / have a smaller lower bound of the time$/);
  await choosePolicy(page, 'rules');
  await expect(result(page)).not.toContainText('proven');
});

test('a search that stops says how far from the optimum it can be at most', async ({ page }) => {
  await write(page, hardProgram(12));
  await choosePolicy(page, 'optimal');
  await expect(result(page)).toContainText(/at most [\d.]+ % above the optimum/);
  await expect(page.locator('.search-result')).toHaveAttribute('title', /the search stopped after [\d,]+ states$/);
});

test('only what a policy looks at is offered', async ({ page }) => {
  await optionsButton(page).click();
  await expect(option(page, /^fused attention ?Matmul/)).toBeVisible();
  await expect(option(page, /^horizontal/)).toHaveCount(0);
  await page.keyboard.press('Escape');
  await choosePolicy(page, 'optimal');
  await optionsButton(page).click();
  for (const name of [/^horizontal/, /^matmul prologue/, /^ops after reductions/, /^fused attention ?Matmul/]) await expect(option(page, name)).toBeVisible();
  await expect(option(page, /^max-autotune/)).toHaveCount(0);
  expect(await accessibilityFindings(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await choosePolicy(page, 'inductor');
  await optionsButton(page).click();
  await expect(option(page, /^max-autotune/)).toBeVisible();
});

test('options change the kernels as on the command line, and survive a reload and a link', async ({ page, context, site }) => {
  await chooseExample(page, 'Attention');
  const text = await editor(page).inputValue();
  await choosePolicy(page, 'optimal');
  await optionsButton(page).click();
  await option(page, /^fused attention ?Matmul/).check();
  await option(page, /^ops after reductions/).uncheck();
  const { fused_traffic: fused } = commandLine(['analyze', '-', '--policy', 'optimal', '--attention', '--after-reductions', 'off'], text);
  await expect.poll(async () => (await headlineBytes(page)).fused).toBe(fused.total);
  await page.keyboard.press('Escape');
  await untilStored(page, 'after-reductions=off');
  await page.reload();
  await expect.poll(async () => (await headlineBytes(page)).fused).toBe(fused.total);

  await page.evaluate(() => { navigator.clipboard.writeText = (text) => { globalThis.copied = text; return Promise.resolve(); }; });
  await copyLink(page);
  const link = await page.waitForFunction(() => globalThis.copied).then((handle) => handle.jsonValue());
  expect(link.startsWith(site)).toBe(true);
  const other = await context.newPage();
  await other.goto(link);
  await expect(policyChoice(other, 'optimal')).toBeChecked();
  await expect.poll(async () => (await headlineBytes(other)).fused).toBe(fused.total);
});

test('a launch of one\'s own changes the time until the device has it back', async ({ page }) => {
  const times = () => result(page).locator('.headline-figure').nth(1).textContent();
  const before = await times();
  await optionsButton(page).click();
  const launch = page.getByRole('slider', { name: 'Launch time per kernel' });
  await launch.focus();
  await page.keyboard.press('End');
  await expect(launch).toHaveAttribute('aria-valuetext', '20.0 µs');
  await expect.poll(times).not.toBe(before);
  await page.getByRole('button', { name: 'Reset the launch time' }).click();
  await expect.poll(times).toBe(before);
  await expect(launch).toBeFocused();
});

test('times are predicted on a measured device and its neighbour, and lower bounds elsewhere', async ({ page }) => {
  const column = page.locator('table.kernels thead th').last();
  const beside = page.locator('table.kernels tbody .bound');
  await expect(result(page)).toContainText(/time at best\s*[\d.]/);
  await expect(column).toHaveText('lower bound of the time');
  await expect(beside).toHaveCount(0);
  for (const [device, words] of [['h200', 'predicted'], ['h100', 'predicted']]) {
    await picker(page, 'GPU').selectOption(device);
    await expect(result(page)).toContainText(new RegExp(`${words}\\s*[\\d.]`));
    await expect(result(page)).toContainText('× faster on');
    await expect(column).toHaveText(`${words} time`);
    await expect(beside.first()).toHaveText(/^lower bound [\d.]+\u00a0[mµ]s$/);
  }
  await expect(page.locator('body')).not.toContainText('estimated');
});

test('under no fusion Fuse is the one filled button, on a phone beside a note, too', async ({ page, open }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await open(fragmentOf('policy=none\nnote=Look here\n\ninput x : f16[4096, 4096]\ny = relu(x)\nz = exp(y)\n'));
  await expect(senderNote(page)).toBeVisible();
  const filled = page.locator('button.primary:visible');
  await expect(filled).toHaveText(['Fuse']);
  await filled.click();
  await expect(viewSwitch(page, 'Fused')).toBeChecked();
  await expect(filled).toHaveText(['Learn']);
});

test('the key of Fuse fuses under no fusion, too', async ({ page, open }) => {
  await open();
  await choosePolicy(page, 'none');
  await expect(viewSwitch(page, 'Unfused')).toBeChecked();
  await page.locator('main').press('ControlOrMeta+Enter');
  await expect(viewSwitch(page, 'Fused')).toBeChecked();
  await expect(policyChoice(page, 'rules')).toBeChecked();
  await page.locator('main').press('ControlOrMeta+Enter');
  await expect(viewSwitch(page, 'Unfused')).toBeChecked();
});
