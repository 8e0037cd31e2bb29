// Tabs below the pictures: attention with sizes of its own, and the model against measurement.

import { accessibilityFindings, expect, test } from './fixture.mjs';
import { choose, chooseExample, choosePolicy, chooseView, notice, openTab, panel, picker, viewSwitch, write } from './visitor.mjs';

test('limits: each kernel with its figures; a warning stands in its row of both tables', async ({ page, open }) => {
  await open();
  const signs = page.locator('table.kernels .limit-sign:visible');
  // So few rows that their sums leave most of the device idle, which the GELU alone would fill.
  await write(page, 'input x : f16[16, 16384]\ny = gelu(x)\nz = sum(y)\nw = relu(z)\n');
  await expect.poll(() => signs.count()).toBeGreaterThan(0);
  await expect(signs.first()).toHaveAttribute('aria-label', /^warning: .+/);
  const count = await page.locator('table.kernels tbody tr').count();
  await openTab(page, 'Limits');
  const rows = panel(page, 'Limits').locator('tbody tr');
  await expect(rows).toHaveCount(count);
  await expect(rows.first()).toContainText(/kB \/ .*kB|B \/ .*kB/);
  await page.getByRole('button', { name: /^limits of kernel 2:/ }).click();
  await expect(rows.nth(1)).toHaveClass(/is-selected/);
  await expect(page.getByRole('button', { name: /^limits of kernel 2:/ })).toBeFocused();
  expect(await accessibilityFindings(page)).toEqual([]);
});

test('a tab about fused kernels says so while the pictures show each op alone, and shows them fused', async ({ page, open }) => {
  await open();
  const note = page.getByText('These are the fused kernels of the textbook rules.');
  await expect(panel(page, 'Kernels')).toBeVisible();
  await expect(note).toHaveCount(0);
  await chooseView(page, 'Unfused');
  for (const name of ['Why not', 'Steps', 'What to do', 'Limits', 'Tiling', 'Kernels']) {
    await openTab(page, name);
    await expect(note, name).toBeVisible();
  }
  await openTab(page, 'Compare');
  await expect(note).toHaveCount(0);
  await openTab(page, 'Kernels');
  await page.getByRole('button', { name: 'Show them fused' }).click();
  await expect(viewSwitch(page, 'Fused')).toBeChecked();
  await expect(note).toHaveCount(0);
  // Without fusion the pictures and the table have the same kernels.
  await choosePolicy(page, 'none');
  await expect(page.getByText('These are the fused kernels')).toHaveCount(0);
});

test('the row of a kernel that is launched twice says so', async ({ page, open }) => {
  await open();
  await write(page, 'input x : f16[1, 16777216]\ny = sum(x)\n');
  await choosePolicy(page, 'inductor');
  await expect(page.locator('table.kernels').getByRole('row', { name: /^kernel 1:/ })).toContainText('y · 2 launches');
});

test('the changes that save most time come first, and each is tried, said and undone', async ({ page, open }) => {
  await open();
  await picker(page, 'GPU').selectOption('h200');
  await openTab(page, 'What to do');
  const rows = panel(page, 'What to do').locator('tbody tr');
  await expect(panel(page, 'What to do').getByRole('columnheader', { name: 'predicted time saved' })).toBeVisible();
  const shares = (await rows.locator('td:nth-child(3)').allTextContents()).map((text) => Number.parseFloat(text));
  expect(shares.length).toBeGreaterThan(1);
  expect(shares).toEqual([...shares].sort((a, b) => b - a));
  expect(await accessibilityFindings(page)).toEqual([]);
  const attention = rows.filter({ hasText: 'scaled_dot_product_attention' });
  await attention.getByRole('button', { name: 'Try it' }).click();
  await expect(attention).toHaveCount(0);
  await expect(notice(page)).toContainText('Set: fused attention');
  // What the example says to watch for is true without it.
  await expect(page.getByText(/^What to watch/)).toBeHidden();
  const figures = page.locator('.headline-figure').first();
  await expect(figures).toContainText('839 MB');
  await page.getByRole('tab', { name: 'Kernels' }).click();
  await expect(page.locator('table.kernels').getByRole('button', { name: /^kernel \d+: .*attn_scores \+ softmax \+ attn_output/ })).toBeVisible();
  await notice(page).getByRole('button', { name: 'Undo' }).click();
  await expect(figures).toContainText('1.96 GB');
  await expect(page.getByText(/^What to watch/)).toBeVisible();
  await expect(notice(page)).toBeEmpty();
});

test('tiling: sliders by keyboard change figures and picture, keep the focus, and the order of the tiles counts', async ({ page, open }) => {
  await open();
  await picker(page, 'GPU').selectOption('h200');
  await write(page, 'input x : f16[4096, 4096]\nweight w : f16[4096, 4096]\nup = matmul(x, w)\nact = gelu(up)\nnorm = layer_norm(act)\n');
  await openTab(page, 'Tiling');
  const tab = panel(page, 'Tiling');
  const figure = (what) => tab.getByRole('row', { name: new RegExp(`^${what}`) }).getByRole('cell');
  expect(await accessibilityFindings(page)).toEqual([]);
  await test.step('the sides of a tile', async () => {
    await expect(figure('tiles')).toHaveText('16 × 32 = 512');
    const chart = tab.locator('svg.chart');
    const before = await chart.innerHTML();
    const slider = page.getByRole('slider', { name: 'BM, rows of the tile' });
    await slider.focus();
    await page.keyboard.press('ArrowLeft');
    await expect(slider).toBeFocused();
    await expect(slider).toHaveAttribute('aria-valuetext', '128');
    await expect(figure('tiles')).toHaveText('32 × 32 = 1,024');
    await expect(figure('wave efficiency')).toHaveText('97.0 %');
    await expect(figure('all tiles')).toHaveText('2.15 GB, 32.0× the compulsory traffic');
    await expect.poll(() => chart.innerHTML()).not.toBe(before);
    await page.getByRole('button', { name: 'Use the suggested tile' }).click();
    await expect(figure('tiles')).toHaveText('16 × 32 = 512');
  });
  await test.step('what follows on the tile', async () => {
    const follows = tab.getByRole('region', { name: 'Ops after the matmul' }).getByRole('listitem');
    await expect(follows.nth(1)).toContainText('this tile has 128.');
    await page.getByRole('slider', { name: 'BN, columns of the tile' }).press('End');
    await expect(follows.nth(1)).toContainText('this tile has 256.');
  });
  await test.step('the order of the tiles', async () => {
    const before = await figure('all waves').textContent();
    await choose(page.getByRole('radio', { name: /row by row/ }));
    expect(await figure('all waves').textContent()).not.toBe(before);
  });
  await test.step('the parts of the picture have names', async () => {
    await tab.locator('.chart [tabindex="0"]').focus();
    await expect(tab.locator('.chart-tip')).toContainText('A, left operand');
    await page.keyboard.press('End');
    await expect(tab.locator('.chart-tip')).toContainText(/wave|idle/);
  });
});

test.describe('attention', () => {
  test.beforeEach(async ({ open, page }) => {
    await open();
    await openTab(page, 'Attention');
  });

  const bytes = (page, count) => panel(page, 'Attention').getByRole('row', { name: new RegExp(count) }).locator('[title]').getAttribute('title');

  test('sliders, boxes, device and program set its sizes, and tiles, bytes and chart follow', async ({ page }) => {
    const tab = panel(page, 'Attention');
    const growth = tab.locator('.attention-growth');
    const chart = growth.locator('svg.chart');
    expect(await accessibilityFindings(page)).toEqual([]);
    await test.step('a slider by keyboard keeps the focus', async () => {
      const before = [await chart.innerHTML(), await bytes(page, 'each tile')];
      const slider = page.getByRole('slider', { name: 'd, size of a head' });
      await slider.focus();
      await page.keyboard.press('ArrowRight');
      await expect(slider).toBeFocused();
      expect(await bytes(page, 'each tile')).not.toBe(before[1]);
      await expect.poll(() => chart.innerHTML()).not.toBe(before[0]);
      await expect(page.getByRole('slider', { name: 'N, rows of K and V' })).toHaveAttribute('aria-valuetext', /^[\d,]+$/);
    });
    await test.step('the square grows fourfold when N doubles, the line twofold', async () => {
      const exact = async (count) => Number((await bytes(page, count)).replace(/\D/g, ''));
      const box = page.getByRole('spinbutton', { name: 'N, rows of K and V, exact value' });
      await box.fill('16384');
      const [square, line] = [await exact('scores go through memory'), await exact('compulsory traffic')];
      await box.fill('32768');
      expect(await exact('compulsory traffic')).toBe(2 * line);
      expect(await exact('scores go through memory') / square).toBeCloseTo(4, 1);
    });
    await test.step('M is the device\'s until it is chosen, and again when asked for', async () => {
      const size = page.getByRole('spinbutton', { name: 'M/KiB, on chip, exact value' });
      await expect(size).toHaveValue('163');
      await picker(page, 'GPU').selectOption('h200');
      await expect(size).toHaveValue('227');
      await size.fill('64');
      await page.getByRole('button', { name: /^M of / }).click();
      await expect(size).toHaveValue('227');
    });
    await test.step('sizes of the program, and another order of the loops', async () => {
      await chooseExample(page, 'Attention');
      await page.getByRole('button', { name: 'Sizes of the program' }).click();
      await expect(page.getByRole('button', { name: 'Sizes of the program' })).toHaveAttribute('aria-disabled', 'true');
      const before = await bytes(page, 'each tile');
      await page.getByRole('radio', { name: /over K and V/ }).check();
      expect(await bytes(page, 'each tile')).not.toBe(before);
      await expect(tab).toContainText('T_c (3Nd + 4N)');
    });
    await test.step('it follows the type of the program until one of its sizes is another', async () => {
      const count = async () => Number((await bytes(page, 'compulsory')).replace(/\D/g, ''));
      const type = picker(page, 'Type');
      await type.selectOption('f32');
      await expect(tab).toContainText('f32, 4 bytes per element');
      const wide = await count();
      await type.selectOption('f16');
      await expect(tab).toContainText('f16, 2 bytes per element');
      expect(await count()).toBe(wide / 2);
      await page.getByRole('spinbutton', { name: 'heads', exact: true }).fill('3');
      await type.selectOption('f32');
      await expect(tab).toContainText('f16, 2 bytes per element. The program has f32, 4 bytes per element.');
    });
    await test.step('the points of the chart have names', async () => {
      await growth.locator('.chart [tabindex="0"]').focus();
      await page.keyboard.press('ArrowRight');
      await expect(growth.locator('.chart-tip')).toContainText(/N = .*memory traffic/s);
    });
  });

  test('online softmax goes step by step through numbers of one\'s own', async ({ page }) => {
    const tab = panel(page, 'Attention');
    await tab.getByText('Online softmax, step by step').click();
    const steps = tab.getByRole('status');
    const player = tab.getByRole('group', { name: 'Steps of the softmax' });
    await player.getByRole('button', { name: 'Step forward' }).click();
    await player.getByRole('button', { name: 'Step forward' }).press('Enter');
    await expect(steps).toContainText('multiply the old sum by exp(1 − 3) = 0.1353');
    await expect(tab).toContainText('exp(12) = 162,755 exceeds the largest f16, 65,504');
    const number = tab.getByRole('spinbutton', { name: 'number 6' });
    await number.fill('6');
    await number.press('Tab');
    await expect(tab).toContainText('still holds all exponentials');
    await choose(tab.getByRole('radio', { name: 'online, blocks of 4' }));
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await player.getByRole('button', { name: 'Play' }).click();
    await expect(tab).toContainText('step 3 of 3');
    await expect(tab).toContainText('three passes');
    expect(await accessibilityFindings(page)).toEqual([]);
  });
});

test('attention and tiles play, pause and go step by step', async ({ page, open }) => {
  await open();
  await openTab(page, 'Attention');
  const walk = page.getByRole('group', { name: 'Tiles of the kernel' });
  const words = walk.locator('.player-words');
  await expect(words).toHaveText(/^Tile 1 of \d+ of Q, tile 1 of \d+ of K and V$/);
  await expect(walk.getByRole('button', { name: 'Step back' })).toHaveAttribute('aria-disabled', 'true');
  await walk.getByRole('button', { name: 'Step forward' }).click();
  await expect(words).toHaveText(/^Tile 1 of \d+ of Q, tile 2/);
  await expect(panel(page, 'Attention').locator('.attention-walk svg')).toContainText('stays');
  await walk.getByRole('button', { name: 'Play' }).click();
  await expect(words).not.toHaveText(/tile 2 of/);
  await walk.getByRole('button', { name: 'Pause' }).click();
  const paused = await words.textContent();
  await walk.getByRole('slider').press('End');
  await expect(words).not.toHaveText(paused);
  await expect(walk.getByRole('button', { name: 'Step forward' })).toHaveAttribute('aria-disabled', 'true');
  // Sizes change what is walked through, and the position stays within it.
  await page.getByRole('spinbutton', { name: 'N, rows of K and V, exact value' }).fill('256');
  await expect(words).toHaveText(/^Tile (\d+) of \1 of Q/);

  await picker(page, 'GPU').selectOption('h200');
  await openTab(page, 'Tiling');
  const tiles = page.getByRole('group', { name: 'Waves and steps along K' });
  const position = tiles.locator('.player-words');
  await expect(position).toHaveText(/^\d+ waves? done$/);
  await tiles.getByRole('slider').press('Home');
  await expect(position).toHaveText(/^Wave 1 of \d+, step 0 of \d+ along K$/);
  const waves = page.locator('.tiling-picture .mark-wave');
  await expect(waves).toHaveCount(0);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await tiles.getByRole('button', { name: 'Play' }).click();
  await expect(position).toHaveText(/done$/);
  await expect(waves.first()).toBeVisible();
  expect(await accessibilityFindings(page)).toEqual([]);
});

test('the profiler shows gaps, who launches, and the table of the selected kernel', async ({ page, open }) => {
  await open();
  await write(page, 'input x : f16[64, 64]\na = mean(x)\nb = sub(x, a)\nc = relu(b)\n');
  await choosePolicy(page, 'none');
  await openTab(page, 'Profiler');
  const tab = panel(page, 'Profiler');
  await expect(tab.getByRole('heading', { name: /^The GPU waits for Python \d/ })).toBeVisible();
  await expect(tab.locator('.mark-idle-gap')).toHaveCount(2);
  await choose(tab.getByRole('radio', { name: 'a CUDA graph' }));
  await expect(tab.locator('.mark-launch-call')).toHaveCount(1);
  await expect(tab).toContainText('Select a kernel, here or in the graph');
  expect(await accessibilityFindings(page)).toEqual([]);
  await tab.getByRole('button', { name: /^kernel 2: b/ }).first().click();
  await expect(tab.getByRole('heading', { name: 'Nsight Compute on kernel 2: b' })).toBeVisible();
  await expect(tab.getByRole('row', { name: /^Block Size/ })).toContainText('128');
  await expect(tab).toContainText('ncu --set full');
});

test.describe('measured', () => {
  test('fetches nothing before it is opened; then shows chart, table and errors', async ({ page, open }) => {
    const fetched = [];
    page.on('request', (request) => { if (request.url().includes('/measured/')) fetched.push(request.url()); });
    await open();
    expect(fetched).toEqual([]);
    await picker(page, 'GPU').selectOption('h200');
    await openTab(page, 'Measured');
    const tab = panel(page, 'Measured');
    await expect(tab).toContainText(/54 rows: half are within [\d.]+ %, nine of ten within/);
    expect(fetched.length).toBe(24);
    await expect(tab.locator('tbody tr')).toHaveCount(54);
    await expect(tab.locator('.chart [role=button]')).toHaveCount(54);
    await choose(tab.getByRole('radio', { name: 'speedup over eager' }));
    await expect(tab.locator('tbody tr')).toHaveCount(31);
    await expect(tab.locator('.legend li:visible')).toHaveText(['compiled', 'compiled, generated matmuls']);
    await tab.getByRole('combobox', { name: 'Measured' }).selectOption({ label: 'H200, further sizes, not used to build it' });
    await expect(tab).toContainText(/\d+ rows: half are within/);
    expect(await accessibilityFindings(page)).toEqual([]);
  });

  test('shows the rows of the chosen GPU, until the visitor chooses others', async ({ page, open }) => {
    await open();
    const tab = panel(page, 'Measured');
    const choice = tab.getByRole('combobox', { name: 'Measured' });
    const shows = async (label) => {
      await expect(choice.locator('option:checked')).toHaveText(label);
      await expect(tab.locator('tbody tr').first()).toBeVisible();
    };
    await picker(page, 'GPU').selectOption('h100');
    await openTab(page, 'Measured');
    await shows('H100, with rates scaled from the H200');
    await picker(page, 'GPU').selectOption('h200');
    await shows('H200, one size of each');
    await choice.selectOption({ label: 'H200, further sizes, not used to build it' });
    await openTab(page, 'Kernels');
    await picker(page, 'GPU').selectOption('h100');
    await openTab(page, 'Measured');
    await shows('H200, further sizes, not used to build it');
  });

  test('a fetch that fails says so, and can be tried again', async ({ page, open, problems }) => {
    let fails = true;
    await page.route('**/measured/add_relu.fuse', (route) => (fails ? route.abort() : route.continue()));
    await open();
    await openTab(page, 'Measured');
    const tab = panel(page, 'Measured');
    await expect(tab).toContainText('The pattern add_relu could not be loaded.');
    fails = false;
    await tab.getByRole('button', { name: 'Try again' }).click();
    await expect(tab).toContainText(/54 rows/);
    // The browser itself reports the request that was cut off.
    problems.splice(0, problems.length, ...problems.filter((problem) => !problem.includes('ERR_FAILED')));
  });
});

test('functions are found by name and by what they do, with what they cost', async ({ page, open }) => {
  await open();
  await page.getByRole('tab', { name: 'Functions' }).click();
  const tab = page.getByRole('tabpanel', { name: 'Functions' });
  const names = () => tab.locator('tbody th').allTextContents();
  expect((await names()).length).toBeGreaterThan(50);
  await tab.getByRole('searchbox', { name: 'Search' }).fill('softmax');
  await expect.poll(async () => (await names())[0]).toBe('softmax(x, [axis])');
  await expect(tab.locator('tbody tr').first()).toContainText('5 for each element of the input');
  await tab.getByRole('searchbox', { name: 'Search' }).fill('nonesuch');
  await expect(tab.getByRole('status')).toContainText('No function matches');
  expect(await accessibilityFindings(page)).toEqual([]);
});

test('a tab whose content is below the window scrolls it into sight', async ({ page, open }) => {
  await page.setViewportSize({ width: 1366, height: 768 });
  await open();
  await page.getByRole('tab', { name: 'What to do' }).click();
  const table = page.getByRole('tabpanel', { name: 'What to do' }).locator('tbody tr').first();
  await expect(table).toBeInViewport();
  const scrolled = await page.evaluate(() => scrollY);
  expect(scrolled).toBeGreaterThan(0);
  // What is in sight stays where it is.
  await page.getByRole('tab', { name: 'Compare' }).click();
  await expect(page.getByRole('tabpanel', { name: 'Compare' })).toBeVisible();
  expect(await page.evaluate(() => scrollY)).toBe(scrolled);
});
