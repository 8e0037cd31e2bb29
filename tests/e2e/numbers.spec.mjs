// Sliders, pickers and the table of kernels: one program, the same numbers everywhere.

import { accessibilityFindings, commandLine, expect, test } from './fixture.mjs';
import {
  chooseExample, choosePolicy, editor, exampleTitles, grouped, headlineBytes, kernelBytes, kernels, numberBox, picker, policyChoice,
  problemList, result, roofline, slider, stopClock, traffic, typeInto, write,
} from './visitor.mjs';

test.beforeEach(async ({ open }) => { await open(); });

/** What the transformer block comes to at this sequence length, by the exported function. */
const block = (page, seqLen) => page.evaluate((s) => {
  const { unfused_traffic: unfused, fused_traffic: fused } = wasmBindings.analyze_transformer_block(s, 4096, 32, 2);
  return { unfused: unfused.total, fused: fused.total, saved: fused.saved_by_fusion };
}, seqLen);

test('each choice changes the numbers as on the command line', async ({ page }) => {
  const start = await headlineBytes(page);
  const text = await editor(page).inputValue();
  await test.step('the page starts with the transformer block of the README', async () => {
    expect(start).toEqual({ unfused: 2_298_478_592, fused: 1_962_934_272, saved: 335_544_320 });
    expect(await kernels(page)).toHaveLength(9);
    for (const words of ['2.30 GB', '1.96 GB', '14.6 %']) await expect(result(page)).toContainText(words);
  });
  await test.step('the GPU changes times and not bytes', async () => {
    const total = page.locator('table.kernels tfoot td').last();
    const before = await total.textContent();
    await picker(page, 'GPU').selectOption({ label: 'H100 SXM' });
    await expect(result(page)).toContainText('H100 SXM');
    await expect(total).not.toHaveText(before);
    expect(await headlineBytes(page)).toEqual(start);
    const report = commandLine(['analyze', '-', '--device', 'h100'], text);
    await expect(page.locator('table.kernels tbody tr').first()).toContainText(`${(report.kernels[0].lower_bound_s * 1e6).toPrecision(3)} µs`);
  });
  await test.step('figures that nobody confirmed are marked', async () => {
    await picker(page, 'GPU').selectOption('l4');
    await page.getByText('Model', { exact: true }).click();
    await expect(page.getByRole('definition').filter({ hasText: '300 GB/s ?' })).toBeVisible();
    await page.keyboard.press('Escape');
  });
  await test.step('without a peak for the type the bound is unknown, and times are lower bounds', async () => {
    await picker(page, 'GPU').selectOption('gaudi-3');
    await picker(page, 'Type').selectOption('f64');
    const row = page.locator('table.kernels tbody tr').nth(6);
    await expect(row).toContainText('unknown');
    await expect(row).toContainText('≥ ');
    await expect(row.locator('[title*="no peak is known for f64"]').first()).toBeVisible();
    await expect(result(page)).toContainText(/time at best.*≥ [\d.]+ ms/);
    await picker(page, 'Type').selectOption('bf16');
    await expect(row).toContainText('matrix units');
    await expect(result(page)).not.toContainText('lower bounds');
  });
  await test.step('the element type changes the bytes', async () => {
    await picker(page, 'Type').selectOption('f32');
    await expect(editor(page)).toHaveValue(/input +input +: f32\[S, H\]/);
    expect(await headlineBytes(page)).toMatchObject({ unfused: 2 * start.unfused, fused: 2 * start.fused });
    await picker(page, 'Type').selectOption('f16');
  });
  await test.step('the policy and the ways of counting', async () => {
    await choosePolicy(page, 'none');
    await expect.poll(() => kernels(page)).toHaveLength(14);
    expect((await headlineBytes(page)).saved).toBe(0);
    await choosePolicy(page, 'rules');
    await page.getByText('Model', { exact: true }).click();
    for (const [label, flag] of [[/^0 bytes/, 'known-only'], [/^as their/, 'output-shape'], [/^as declared/, 'declared']]) {
      await page.getByRole('radio', { name: label }).check();
      const report = commandLine(['analyze', '-', '--externals', flag], text);
      expect(await headlineBytes(page), flag).toMatchObject({ unfused: report.unfused_traffic.total, fused: report.fused_traffic.total });
    }
    await page.getByRole('radio', { name: /^a view/ }).check();
    const report = commandLine(['analyze', '-', '--reshape', 'view'], text);
    expect(await headlineBytes(page)).toMatchObject({ unfused: report.unfused_traffic.total, fused: report.fused_traffic.total });
    await page.keyboard.press('Escape');
  });
  await test.step('a program without params has no sliders and says how to get one', async () => {
    await write(page, 'input x : f16[64]\ny = relu(x)\n');
    await expect(page.getByRole('slider')).toHaveCount(0);
    await expect(page.getByText('to get a slider')).toBeVisible();
  });
});

/** How the command line is asked for the kernels that an example opens with. */
const OPENED_WITH = { 'Transformer block': ['--policy', 'inductor', '--reshape', 'view'] };

test('every example is drawn without a mistake, says what to watch for, and has the numbers of the command line', async ({ page }) => {
  const graph = page.getByRole('region', { name: 'Graph' });
  const marks = (chart) => chart.getByRole('button', { name: /^(?!Enlarge)/ });
  for (const title of await exampleTitles(page)) {
    await test.step(title, async () => {
      await chooseExample(page, title);
      await expect(page.getByText(/^What to watch/)).toBeVisible();
      await expect(problemList(page).getByRole('listitem').filter({ hasText: 'error' })).toHaveCount(0);
      await expect(editor(page)).toHaveAttribute('aria-invalid', 'false');
      await expect(page.getByRole('slider').first()).toBeVisible();
      for (const chart of [roofline(page), traffic(page)]) await expect(marks(chart).first()).toBeVisible();
      const report = commandLine(['analyze', '-', ...OPENED_WITH[title] ?? []], await editor(page).inputValue());
      const more = page.getByRole('button', { name: /^Show more/ });
      while (await more.isVisible()) await more.click();
      const groups = await kernels(page);
      expect(groups).toEqual(report.fusion_groups);
      expect(await headlineBytes(page)).toEqual({
        unfused: report.unfused_traffic.total, fused: report.fused_traffic.total, saved: report.fused_traffic.saved_by_fusion,
      });
      expect(await kernelBytes(page)).toEqual(report.kernels.map((kernel) => [kernel.unfused_bytes, kernel.bytes_read + kernel.bytes_written]));
      const name = await graph.getByRole('group', { name: /^graph of/ }).getAttribute('aria-label');
      // Of equal rounds one is drawn.
      const [, all, shown] = name.match(/^graph of (\d+) operations? in \d+ kernels?(?:; with equal kernels folded it draws (\d+) operations?)?$/);
      if (!shown) expect(groups.flat()).toHaveLength(Number(all));
      await expect(graph.locator('.dag-op-box')).toHaveCount(Number(shown ?? all));
    });
  }
});

test('dragging the sequence length moves the bytes', { tag: '@firefox' }, async ({ page }) => {
  const handle = slider(page, 'S');
  const { x, y, width, height } = await handle.boundingBox();
  await page.mouse.move(x + width * 0.12, y + height / 2);
  await page.mouse.down();
  for (const part of [0.2, 0.4, 0.6, 0.9]) await page.mouse.move(x + width * part, y + height / 2);
  await page.mouse.up();
  const dragged = Number(await numberBox(page, 'S').inputValue());
  expect(dragged).toBeGreaterThan(4096);
  expect(dragged % 128).toBe(0);
  expect(await headlineBytes(page)).toEqual(await block(page, dragged));
  await expect(editor(page)).toHaveValue(new RegExp(`param S = ${dragged} in 128`));
  await expect(numberBox(page, 'S')).toHaveValue(String(dragged));
  await page.getByRole('button', { name: 'Undo', exact: true }).click();
  await expect(numberBox(page, 'S')).toHaveValue('2048');
});

test('pictures, tables, policies and names catch up with a slider that moves in each frame', { tag: '@firefox' }, async ({ page }) => {
  const total = page.locator('table.kernels tfoot td[title]').first();
  const drag = () => slider(page, 'S').evaluate(async (field) => {
    const [min, step] = [field.min, field.step].map(Number);
    for (let event = 1; event <= 30; event += 1) {
      field.value = String(min + event * step);
      field.dispatchEvent(new Event('input', { bubbles: true }));
      await new Promise((frame) => { requestAnimationFrame(frame); });
    }
  });
  await drag();
  const seqLen = Number(await numberBox(page, 'S').inputValue());
  expect(seqLen).not.toBe(2048);
  const bytes = await headlineBytes(page);
  expect(bytes).toEqual(await block(page, seqLen));
  await expect(total).toHaveAttribute('title', new RegExp(`${grouped(bytes.unfused)}.*${grouped(bytes.fused)}`));
  await expect(policyChoice(page, 'rules').locator('..')).toContainText(await total.locator('strong').textContent());

  const told = () => page.locator('.dag-shape, .dag-bytes, .dag-op-box, .dag-kernel, .charts [aria-label]').evaluateAll((all) => (
    all.map((part) => part.getAttribute('aria-label') ?? part.textContent)));
  for (const value of [2048, seqLen]) {
    await typeInto(numberBox(page, 'S'), String(value));
    await numberBox(page, 'S').press('Enter');
    const kernelTraffic = page.locator('table.kernels tbody tr').first().locator('td[title] strong');
    await expect.poll(() => headlineBytes(page)).toEqual(await block(page, value));
    await expect(page.locator('.dag-kernel').first()).toHaveAttribute('aria-label', new RegExp(`^kernel 1 of .* ${await kernelTraffic.textContent()} through memory`));
  }
  // The axes of charts stand still for 0.9 s after a change by keys: told is what stays for longer.
  let toldOfTyped;
  await expect.poll(async () => {
    const before = JSON.stringify(toldOfTyped);
    toldOfTyped = await told();
    return JSON.stringify(toldOfTyped) === before;
  }, { intervals: [1000] }).toBe(true);
  await drag();
  await expect(numberBox(page, 'S')).toHaveValue(String(seqLen));
  await expect.poll(told).toEqual(toldOfTyped);
});

test('arrows on a slider without a pause are one step back, until the focus leaves it', { tag: '@firefox' }, async ({ page }) => {
  await stopClock(page);
  const undo = page.getByRole('button', { name: 'Undo', exact: true });
  const press = async (times) => {
    await slider(page, 'S').focus();
    for (let time = 0; time < times; time += 1) await page.keyboard.press('ArrowRight');
  };
  await press(3);
  await slider(page, 'H').focus();
  await press(2);
  await expect(numberBox(page, 'S')).toHaveValue('5120');
  await undo.click();
  await expect(numberBox(page, 'S')).toHaveValue('3584');
  await undo.click();
  await expect(numberBox(page, 'S')).toHaveValue('2048');
  await expect(undo).toBeDisabled();
});

test('a slider by keys, and the number box beside it', { tag: '@firefox' }, async ({ page }) => {
  await slider(page, 'S').focus();
  await page.keyboard.press('ArrowRight');
  // From stop to stop, in doublings of equal length.
  await expect(numberBox(page, 'S')).toHaveValue('2560');
  expect(await headlineBytes(page)).toEqual(await block(page, 2560));
  await typeInto(numberBox(page, 'S'), '1024');
  await numberBox(page, 'S').press('Enter');
  await expect(numberBox(page, 'S')).toHaveValue('1024');
  expect(await headlineBytes(page)).toEqual(await block(page, 1024));
  const { fused } = await headlineBytes(page);
  await typeInto(numberBox(page, 'S'), '99999999');
  await numberBox(page, 'S').press('Enter');
  await expect(page.getByText('S ranges from 128 to 16,384, and 99,999,999 is outside.')).toBeVisible();
  await expect(numberBox(page, 'S')).toHaveValue('1024');
  expect((await headlineBytes(page)).fused).toBe(fused);
  expect(await accessibilityFindings(page)).toEqual([]);
  await typeInto(numberBox(page, 'S'), '2k');
  await numberBox(page, 'S').press('Enter');
  await expect(numberBox(page, 'S')).toHaveValue('2048');
  await expect(page.getByText('is outside')).toBeHidden();
  await numberBox(page, 'S').press('ArrowUp');
  await expect(numberBox(page, 'S')).toHaveValue('2176');
});

test('the heads stop only where they divide the hidden size, and follow it', async ({ page }) => {
  await typeInto(numberBox(page, 'heads'), '96');
  await numberBox(page, 'heads').press('Enter');
  const refusal = page.getByText('heads ranges from 8 to 128 and must divide H: 96 does not, 64 does.');
  await expect(refusal).toBeVisible();
  expect(await headlineBytes(page)).toEqual(await block(page, 2048));
  await slider(page, 'heads').press('ArrowRight');
  await expect(numberBox(page, 'heads')).toHaveValue('64');
  await expect(refusal).toBeHidden();
  await slider(page, 'heads').press('End');
  await expect(numberBox(page, 'heads')).toHaveValue('128');
  await expect(slider(page, 'heads')).toHaveAttribute('aria-valuetext', '128');
  await typeInto(numberBox(page, 'H'), '768');
  await numberBox(page, 'H').press('Enter');
  await slider(page, 'heads').press('ArrowLeft');
  await expect(numberBox(page, 'heads')).toHaveValue('96');
  await typeInto(numberBox(page, 'H'), '1024');
  await numberBox(page, 'H').press('Enter');
  await expect(numberBox(page, 'heads')).toHaveValue('64');
  await expect(page.getByText('The text has an error.')).toBeHidden();
});

test('figures of a GPU of one\'s own are typed, and are taken over when the menu closes', { tag: '@firefox' }, async ({ page }) => {
  const bandwidth = page.getByLabel('bandwidth, GB/s');
  await picker(page, 'GPU').selectOption({ label: 'Custom…' });
  await typeInto(bandwidth, '1');
  await bandwidth.press('Enter');
  await expect(result(page)).toContainText('Custom');
  await expect(page.locator('table.kernels tfoot')).toContainText(/1\.9\d s/);
  await typeInto(bandwidth, '1e30');
  await bandwidth.press('Enter');
  await expect(page.getByText('bandwidth, GB/s: from 1 to 100,000')).toBeVisible();
  await expect(bandwidth).toHaveValue('1');

  const summary = page.locator('summary').filter({ hasText: 'Model' });
  const closings = [() => page.getByText('Who fuses', { exact: true }).click(), () => page.keyboard.press('Escape'), () => summary.click()];
  for (const [place, close] of closings.entries()) {
    await typeInto(bandwidth, String(100 + place));
    await close();
    await expect(bandwidth).toHaveCount(0);
    await summary.click();
    await expect(bandwidth).toHaveValue(String(100 + place));
    // One that is out of range is not, and does no harm.
    await typeInto(bandwidth, '1e30');
    await close();
    await summary.click();
    await expect(bandwidth).toHaveValue(String(100 + place));
  }
});
