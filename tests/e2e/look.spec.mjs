// How the page looks and behaves for everybody: sizes of screens, colours, keyboard, screen
// readers, policy, hostile names.

import { readFileSync } from 'node:fs';
import { accessibilityFindings, expect, findingsInBothColours, test } from './fixture.mjs';
import {
  chooseExample, choosePolicy, editor, exampleTitles, headlineBytes, kernelButton, kernels, paste, picker, policyChoice, present, result,
  roofline, slider, traffic, viewSwitch, write,
} from './visitor.mjs';

const SCREENS = { phone: { width: 360, height: 740 }, laptop: { width: 1366, height: 768 }, projector: { width: 1920, height: 1080 } };

/** Pixels by which the page is wider than its window. */
const overhang = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

for (const [screen, viewport] of Object.entries(SCREENS)) {
  test(`${screen}: nothing sticks out, and axe-core finds nothing in light and dark colours`, async ({ page, open }) => {
    await page.setViewportSize(viewport);
    await open();
    await expect(roofline(page)).toBeVisible();
    await test.step('at first', async () => {
      expect(await overhang(page)).toBe(0);
      expect(await findingsInBothColours(page)).toEqual([]);
    });
    await test.step('with a kernel that is selected, and the table of ops', async () => {
      await page.getByRole('tab', { name: 'Table' }).click();
      await kernelButton(page, 1).click();
      expect(await overhang(page)).toBe(0);
      expect(await findingsInBothColours(page)).toEqual([]);
    });
    await test.step('with mistakes in the text', async () => {
      await page.getByRole('tab', { name: 'Text' }).click();
      await write(page, 'input x : f16[64, 64]\ny = reluu(x)\nz = add(y, b)\n');
      expect(await overhang(page)).toBe(0);
      expect(await findingsInBothColours(page)).toEqual([]);
    });
  });
}

/** The smallest text of the graph in pixels of the screen, and whether a text is in sight. */
const graphText = (page) => page.locator('svg.dag').evaluate((svg) => {
  const frame = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll('text, tspan')].filter((text) => text.textContent);
  const isSeen = (text) => {
    const { left, right, top, bottom } = text.getBoundingClientRect();
    return left >= frame.left && right <= frame.right && top >= frame.top && bottom <= frame.bottom;
  };
  const px = (text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a;
  return { leastPx: Math.min(...texts.map(px)), isSeen: texts.some(isSeen) };
});

for (const [screen, viewport] of Object.entries(SCREENS)) {
  test(`${screen}: the graph can be read at first sight, and again when asked`, async ({ page, open }) => {
    await page.setViewportSize(viewport);
    await open();
    const isReadable = async (title) => {
      const { leastPx, isSeen } = await graphText(page);
      expect(leastPx, title).toBeGreaterThanOrEqual(10.99);
      expect(isSeen, title).toBe(true);
    };
    for (const title of await exampleTitles(page)) {
      await chooseExample(page, title);
      await isReadable(title);
    }
    await page.getByRole('button', { name: 'Zoom out' }).click({ clickCount: 3 });
    expect((await graphText(page)).leastPx).toBeLessThan(11);
    await page.locator('svg.dag').focus();
    await page.keyboard.press('1');
    await isReadable('after 1');
  });
}

test('a tall graph is in columns on a projector, and full-screen on request', async ({ page, open }) => {
  await page.setViewportSize(SCREENS.projector);
  await open();
  await chooseExample(page, 'Transformer block, 14 ops');
  const panels = page.locator('.dag-kernel');
  const columns = () => panels.evaluateAll((all) => new Set(all.map((panel) => Math.round(panel.getBoundingClientRect().left / 100))).size);
  await expect.poll(columns).toBeGreaterThan(1);
  for (const panel of await panels.all()) await expect(panel).toBeInViewport();
  const button = page.getByRole('button', { name: 'Full screen', exact: true });
  await button.click();
  const leave = page.getByRole('button', { name: 'Leave full screen', exact: true });
  await expect(leave).toBeInViewport({ ratio: 1 });
  expect(await page.evaluate(() => document.fullscreenElement?.className)).toContain('graph');
  for (const figure of ['memory traffic', 'time at best']) await expect(page.locator('.graph .headline')).toContainText(figure);
  await leave.click();
  await expect(button).toBeVisible();
  await expect(page.locator('.graph .headline')).toHaveCount(0);
});

test('where the browser refuses to fill the screen, or to leave it, nothing changes', async ({ page, open }) => {
  await page.setViewportSize(SCREENS.projector);
  await open();
  const refuse = (method) => page.evaluate((name) => {
    const refused = () => { globalThis.refusals = (globalThis.refusals ?? 0) + 1; return Promise.reject(new TypeError('Permissions check failed')); };
    for (const { prototype } of [Element, Document]) if (name in prototype) prototype[name] = refused;
  }, method);
  const refusals = (count) => expect.poll(() => page.evaluate(() => globalThis.refusals)).toBe(count);
  await page.getByRole('button', { name: 'Full screen', exact: true }).click();
  const leave = page.getByRole('button', { name: 'Leave full screen', exact: true });
  await refuse('exitFullscreen');
  await leave.click();
  await refusals(1);
  await expect(leave).toBeVisible();
  await page.reload();
  await page.locator('main').waitFor();
  await refuse('requestFullscreen');
  await page.getByRole('button', { name: 'Full screen', exact: true }).click();
  await refusals(1);
  await present(page);
  await refusals(2);
  await expect(leave).toHaveCount(0);
});

test('the bar is one line on a laptop and a small projector, on a phone two, of which the choices scroll sideways', async ({ page, open }) => {
  await open();
  const bar = page.getByRole('banner');
  for (const viewport of [SCREENS.laptop, { width: 1280, height: 720 }]) {
    await page.setViewportSize(viewport);
    expect((await bar.boundingBox()).height).toBeLessThan(60);
    await expect(result(page)).toBeInViewport({ ratio: 1 });
    expect(await overhang(page)).toBe(0);
  }
  await page.setViewportSize(SCREENS.phone);
  expect((await bar.boundingBox()).height).toBeLessThanOrEqual(96);
  for (const control of await bar.locator('select, summary, button').all()) {
    if (!(await control.isVisible())) continue;
    await control.scrollIntoViewIfNeeded();
    const { x, width } = await control.boundingBox();
    expect(x, await control.innerText()).toBeGreaterThanOrEqual(0);
    expect(x + width, await control.innerText()).toBeLessThanOrEqual(SCREENS.phone.width);
  }
  expect(await overhang(page)).toBe(0);
});

test('nothing covers the graph, and all columns of measurements are seen on a laptop', async ({ page, open }) => {
  await page.setViewportSize(SCREENS.laptop);
  await open();
  const graph = await page.locator('.dag-view').boundingBox();
  const [legend, tools] = [await page.locator('.dag-legend').boundingBox(), await page.locator('.dag-tools').boundingBox()];
  for (const { y } of [legend, tools]) expect(y).toBeGreaterThanOrEqual(graph.y + graph.height);
  // One line on a laptop, to leave the picture its height.
  expect(tools.y).toBeLessThan(legend.y + legend.height);
  await page.getByRole('tab', { name: 'Measured' }).click();
  const table = page.locator('.measured-table');
  await expect(table.getByRole('row')).not.toHaveCount(0);
  expect(await table.evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0);
});

test('on a phone no tab is wider than the window, and times and bytes are seen without scrolling sideways', async ({ page, open }) => {
  await page.setViewportSize(SCREENS.phone);
  await open();
  for (const tab of ['Kernels', 'What to do', 'Compare', 'Sweep', 'Why not', 'Limits', 'Steps', 'Tiling', 'Attention', 'Precision', 'Measured', 'Your GPU']) {
    await page.getByRole('tab', { name: tab, exact: true }).click();
    await expect(page.getByRole('tabpanel', { name: tab, exact: true })).toBeVisible();
    const table = page.locator('.table-scroll:has(> .row-lines)');
    if (['Kernels', 'What to do', 'Compare', 'Why not'].includes(tab)) {
      await expect(table.locator('tbody tr')).not.toHaveCount(0);
      expect(await table.evaluate((box) => box.scrollWidth - box.clientWidth), tab).toBe(0);
      const hidden = await table.locator('.number').evaluateAll((cells) => cells.filter((cell) => cell.clientWidth > 1 && cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent));
      expect(hidden, tab).toEqual([]);
    }
    expect(await overhang(page), tab).toBe(0);
  }
});

test('menus are accessible, close by a pointer elsewhere and by Escape, and give the focus back to their button', async ({ page, open }) => {
  await open();
  await test.step('axe-core finds nothing in an open menu', async () => {
    for (const menu of ['Model', 'Export', 'More']) {
      await page.locator('summary').filter({ hasText: menu }).click();
      expect(await accessibilityFindings(page), menu).toEqual([]);
      await page.keyboard.press('Escape');
    }
  });
  await test.step('closing', async () => {
    const button = (name) => page.locator('summary').filter({ hasText: name });
    const panels = page.locator('.menu-panel');
    await button('Options').click();
    await expect(panels).toHaveCount(1);
    await button('Model').click();
    await expect(page.getByText('A reshape is')).toBeVisible();
    await expect(panels).toHaveCount(1);
    await page.getByRole('radio', { name: /^a view/ }).focus();
    await page.keyboard.press('Escape');
    await expect(panels).toHaveCount(0);
    await expect(button('Model')).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(panels).toHaveCount(1);
    await page.keyboard.press('Space');
    await expect(panels).toHaveCount(0);
    await button('Export').click();
    await result(page).click();
    await expect(panels).toHaveCount(0);
  });
});

test('the text, the analysis and the list of ops are exported', async ({ page, open }) => {
  await open();
  const menu = page.locator('summary').filter({ hasText: 'Export' });
  const exported = async (name) => {
    await menu.click();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name }).click()]);
    await expect(page.locator('.menu-panel')).toHaveCount(0);
    await expect(menu).toBeFocused();
    return [download.suggestedFilename(), readFileSync(await download.path(), 'utf8')];
  };
  expect(await exported(/^Text/)).toEqual(['fuseline.fuse', await editor(page).inputValue()]);
  const [name, analysis] = await exported(/^Analysis/);
  expect(name).toBe('fuseline-analysis.json');
  expect(JSON.parse(analysis).fused_traffic.total).toBe(1_962_934_272);
  const [, list] = await exported(/^Op list/);
  expect(JSON.parse(list).ops).toHaveLength(14);
  expect(JSON.parse(list).tensors).toHaveLength(5);
  const bytes = await headlineBytes(page);
  for (const json of [list, analysis]) {
    await editor(page).fill('');
    await paste(page, json);
    await expect(editor(page)).toHaveValue(/^input/);
    expect(await headlineBytes(page)).toEqual(bytes);
  }
});

test('what does not change is no gain, and the figures of a custom GPU stand once, in the window', async ({ page, open }) => {
  await page.setViewportSize(SCREENS.laptop);
  await open();
  await expect(result(page)).toContainText('saves 14.6 %');
  await choosePolicy(page, 'none');
  await expect(result(page)).toContainText('Without fusion');
  await expect(result(page)).not.toContainText('saves');
  await picker(page, 'GPU').selectOption('custom');
  const menu = page.locator('.menu-panel');
  await expect(menu.getByRole('spinbutton').first()).toBeVisible();
  await expect(menu.locator('.figure-list')).toHaveCount(0);
  const { y, height } = await menu.boundingBox();
  expect(y + height).toBeLessThanOrEqual(SCREENS.laptop.height);
});

test('the theme button goes through the system\'s colours, light and dark, and is remembered', async ({ page, open }) => {
  await open();
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.locator('summary').filter({ hasText: 'More' }).click();
  const button = page.getByRole('button', { name: /^Colours/ });
  await button.click();
  const light = await background();
  await button.click();
  expect(await background()).not.toBe(light);
  await expect(button).toHaveAccessibleName(/dark/);
  await page.reload();
  await page.locator('summary').filter({ hasText: 'More' }).click();
  await expect(button).toHaveAccessibleName(/dark/);
  expect(await background()).not.toBe(light);
});

test('forced colours leave everything readable', async ({ page, open }) => {
  await page.emulateMedia({ forcedColors: 'active' });
  await open();
  await expect(page.locator('.key-written').first()).toHaveCSS('background-image', /gradient/);
  await expect(result(page)).toContainText('1.96 GB');
  expect(await accessibilityFindings(page)).toEqual([]);
});

test('by keyboard alone: from the skip link to a kernel, a slider and the text', async ({ page, open }) => {
  await open();
  await page.keyboard.press('Tab');
  await expect(page.getByRole('link', { name: 'Skip to the result' })).toBeFocused();
  await page.keyboard.press('Enter');
  const reached = new Set();
  for (let press = 0; press < 120; press += 1) {
    await page.keyboard.press('Tab');
    const name = await page.evaluate(() => {
      const element = document.activeElement;
      const box = element.getBoundingClientRect();
      const outline = getComputedStyle(element);
      const visible = outline.outlineStyle !== 'none' || outline.boxShadow !== 'none';
      return { key: element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent, seen: box.width > 0 && box.height > 0, visible, tag: element.tagName };
    });
    if (name.tag === 'BODY') break;
    expect(name.seen, `${name.key} is focused and not to be seen`).toBe(true);
    reached.add(name.key);
  }
  for (const wanted of ['S', 'Operations as text', 'kernel 1: qkv_proj + split_heads']) expect([...reached]).toContain(wanted);

  await kernelButton(page, 2).focus();
  await page.keyboard.press('Enter');
  await expect(page.locator('.details-title', { hasText: 'attn_scores' })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.locator('.details-title', { hasText: 'attn_scores' })).toBeHidden();
  await page.keyboard.press('ControlOrMeta+Enter');
  await expect(viewSwitch(page, 'Unfused')).toBeChecked();
});

test('a change is told to screen readers once it has come to rest', async ({ page, open }) => {
  await open();
  await slider(page, 'S').focus();
  await page.keyboard.press('ArrowRight');
  await expect(result(page).getByRole('status').filter({ hasText: /Fusing by textbook rules turns .* kernels into/ })).toHaveCount(1);
});

test('names are text, never markup', async ({ page, open }) => {
  await open();
  const names = ['<img src=x onerror=alert(1)>', '<script>alert(2)</script>', '"><svg onload=alert(3)>', 'javascript:alert(4)', '&lt;b&gt;'];
  const lines = names.map((name, i) => `\`${name}\`: \`t ${name}\` = relu(${i ? `\`t ${names[i - 1]}\`` : 'x'})`);
  await write(page, `input x : f16[8, 8]\n${lines.join('\n')}\n`);
  await expect.poll(async () => (await kernels(page)).flat().length).toBe(names.length);
  expect((await kernels(page)).flat()).toEqual(names);
  await kernelButton(page, 1).click();
  await page.getByRole('tab', { name: 'Table' }).click();
  for (const mark of await roofline(page).getByRole('button').all()) await mark.hover({ force: true });
  await page.getByRole('tab', { name: 'Text' }).click();
  await write(page, 'input `<img src=x onerror=alert(5)>` : f16[<img src=x onerror=alert(6)>]\ny = `<b>bold</b>`(x)\n');
  expect(await page.evaluate(() => document.querySelectorAll('main img, main script, main svg[onload], main b').length)).toBe(0);
});

test('the policy allows no inline script and no other host', async ({ page, open, problems }) => {
  await open();
  const policy = await page.locator('meta[http-equiv="Content-Security-Policy"]').getAttribute('content');
  const directives = Object.fromEntries(policy.split(';').map((part) => part.trim().split(/ (.*)/s)));
  expect(directives['default-src']).toBe('\'none\'');
  expect(directives['script-src']).toBe('\'self\' \'wasm-unsafe-eval\'');
  expect(policy).not.toContain('unsafe-inline');
  expect(policy).not.toMatch(/\*|https?:/);
  await page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'globalThis.wasRun = true';
    document.body.append(script);
  });
  expect(await page.evaluate(() => globalThis.wasRun)).toBeUndefined();
  await expect.poll(() => problems.length).toBeGreaterThan(0);
  expect(problems.every((problem) => /policy|Content Security/i.test(problem))).toBe(true);
  problems.length = 0;
});

test('works without a network once it is loaded', async ({ page, open, context }) => {
  await open();
  await context.setOffline(true);
  await chooseExample(page, 'Diamond');
  await expect(slider(page, 'N').or(page.getByRole('slider').first())).toBeVisible();
  await expect(traffic(page)).toBeVisible();
  await write(page, `${await editor(page).inputValue()}\n`);
  await context.setOffline(false);
});

test('every tensor between two ops is a line, also where a kernel computes it again', async ({ page, open }) => {
  await open();
  for (const policy of ['none', 'rules', 'inductor', 'optimal']) {
    await choosePolicy(page, policy);
    await expect(policyChoice(page, policy)).toBeChecked();
    const bare = page.locator('svg.dag .dag-edge:not(.is-dram):not(:has(> .dag-on-chip))');
    await expect(bare).toHaveCount(0);
  }
  await open('#lesson=torch_compile.7');
  await page.getByText('Each of the two kernels computes it').click();
  await page.getByRole('button', { name: 'Answer', exact: true }).click();
  await expect(page.locator('svg.dag .dag-on-chip')).toHaveCount(2);
});
