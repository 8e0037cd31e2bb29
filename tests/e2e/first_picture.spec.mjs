// The first picture: index.html holds what a first visit sees, as the engine draws it, until the
// program has come. `UPDATE_GOLDEN=1 ./dev test-page first_picture` writes
// public/first_picture.html anew; then build again.

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from './fixture.mjs';
import { withhold } from './visitor.mjs';

const GOLDEN = fileURLToPath(new URL('../../public/first_picture.html', import.meta.url));
const LAPTOP = { width: 1366, height: 768 };
const PHONE = { width: 390, height: 844 };
const PROJECTOR = { width: 1920, height: 1080 };

const picture = (page) => page.locator('#first-picture');

test.beforeEach(async ({ page }) => {
  // As nobody has been here: without what the fixture stores.
  await page.addInitScript(() => localStorage.clear());
});

/** What the page shows, as text without what only a living page needs. Runs in the page. */
function still() {
  const body = document.body;
  const copy = body.cloneNode(true);
  // A list is as wide as its widest option.
  const context = document.createElement('canvas').getContext('2d');
  const width = (option) => context.measureText(option.text).width;
  const isWidest = (option) => [...option.parentElement.closest('select').options].every((other) => width(other) <= width(option));
  // What was chosen is a property, and no attribute.
  const controls = copy.querySelectorAll('input, option');
  body.querySelectorAll('input, option').forEach((control, place) => {
    const still = controls[place];
    if (control.checked) still.setAttribute('checked', '');
    else if (control.matches('input:not([type=radio], [type=checkbox])')) still.setAttribute('value', control.value);
    if (control.selected) still.setAttribute('selected', '');
    else if (control.matches('option') && !isWidest(control)) still.remove();
  });
  copy.querySelectorAll('.skip-link, .sr-only, [hidden], dialog, title, desc, .results > :not(:first-child), #first-picture, #loading, script').forEach((part) => part.remove());
  copy.querySelectorAll('optgroup:empty').forEach((group) => group.remove());
  for (const part of copy.querySelectorAll('*')) {
    for (const { name, value } of [...part.attributes]) {
      // The Content-Security-Policy forbids styles in the text; src/boot.js applies them.
      if (name === 'style' && value) part.setAttribute('data-style', value);
      if (/^(style|title|name|for|role|tabindex|aria-.*)$/.test(name)) part.removeAttribute(name);
      else if (name === 'id') part.id = `first-${value}`;
      else if (value.includes('#')) part.setAttribute(name, value.replaceAll('#', '#first-'));
    }
  }
  // The graph is as large as its place allows, up to the largest scale of a whole graph.
  const LARGEST_SCALE = 1.5;
  const { width: graphWidth, height: graphHeight } = body.querySelector('svg.dag').getBoundingClientRect();
  const [graph, parts] = [copy.querySelector('svg.dag'), copy.querySelector('.dag-parts')];
  const [x, y, scale] = parts.getAttribute('transform').match(/[-\d.]+/g).map(Number);
  // Without what is beside it, which would keep it small in a wider window.
  const [middle, top] = [(graphWidth / 2 - x) / scale, -y / scale];
  const drawn = body.querySelector('.dag-parts').getBBox();
  const half = Math.min(graphWidth / scale / 2, Math.max(middle - drawn.x, drawn.x + drawn.width - middle) + drawn.y - top);
  const box = [middle - half, top, 2 * half, graphHeight / scale].map((length) => Number(length.toFixed(2)));
  graph.setAttribute('viewBox', box.join(' '));
  graph.setAttribute('data-style', `max-width: ${box[2] * LARGEST_SCALE}px; max-height: ${box[3] * LARGEST_SCALE}px; margin: auto`);
  parts.removeAttribute('transform');
  const main = copy.querySelector('main');
  const page = document.createElement('div');
  for (const { name, value } of main.attributes) page.setAttribute(name, value);
  page.append(...main.childNodes);
  main.replaceWith(page);
  // The bundler drops spaces between elements.
  const texts = document.createTreeWalker(copy, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) if (texts.currentNode.data === ' ') texts.currentNode.data = '\u00A0';
  // A break inside of each tag is none between the elements.
  return copy.innerHTML.replaceAll(/<!--.*?-->/g, '').replaceAll('><', '\n><');
}

/** The picture of a laptop, with the charts of a phone beside those of the laptop. */
async function drawn(page, visit) {
  const stills = [];
  for (const size of [LAPTOP, PHONE]) {
    await page.setViewportSize(size);
    await visit();
    await expect(page.locator('.charts .chart')).toHaveCount(3);
    stills.push(await page.evaluate(still));
    await page.evaluate(() => localStorage.clear());
  }
  const charts = /<div class="charts[^]*?(?=<section class="panel ops)/;
  const [laptop, phone] = stills;
  const narrow = phone.match(charts)[0].replace('class="charts', 'class="charts is-narrow').replaceAll('first-', 'first-narrow-');
  return `${laptop.replace(charts, (wide) => `${wide.replace('class="charts', 'class="charts is-wide')}${narrow}`)}\n`;
}

test('index.html holds what the engine draws of the opening program', async ({ page, visit }) => {
  const now = await drawn(page, visit);
  if (process.env.UPDATE_GOLDEN) writeFileSync(GOLDEN, now);
  expect(now, 'write it anew with UPDATE_GOLDEN=1').toBe(readFileSync(GOLDEN, 'utf8'));
});

/** What the lists in sight have chosen. */
const chosen = (root) => [...document.querySelectorAll(`${root} .bar-choices select`)].map((list) => list.selectedOptions[0].text);

/** Where things stand that a visitor may have looked at: those in the first screen. */
function places(root) {
  const seen = ['.bar-choices > :last-child', '.claim', '.fuse-button', '.policies', '.policy:last-of-type', '.slider:last-of-type', '.panel.graph', '.dag-op-box rect', '.charts .chart'];
  const all = seen.map((selector) => {
    const shown = [...document.querySelector(root).querySelectorAll(selector)].find((part) => part.checkVisibility());
    const { x, y, width, height } = shown.getBoundingClientRect();
    return [selector, [x, y, width, height].map(Math.round)];
  });
  return Object.fromEntries(all.filter(([, [, y]]) => y < innerHeight));
}

for (const [screen, size] of Object.entries({ laptop: LAPTOP, phone: PHONE, projector: PROJECTOR })) {
  test(`the first picture stands while the program loads, and comes to life where it stands: ${screen}`, async ({ page, site }) => {
    await page.setViewportSize(size);
    const send = await withhold(page, '**/*.wasm');
    await page.goto(site);
    await expect(picture(page)).toBeVisible();
    await expect(page.getByRole('status')).toHaveText(/Loading/);
    const [before, chosenBefore] = [await page.evaluate(places, '#first-picture'), await page.evaluate(chosen, '#first-picture')];
    send();
    await expect(picture(page)).toHaveCount(0);
    const now = await page.evaluate(places, 'body');
    expect(await page.evaluate(chosen, 'body')).toEqual(chosenBefore);
    for (const [part, place] of Object.entries(before)) {
      place.forEach((px, side) => { expect(Math.abs(px - now[part][side]), `${part}: ${place} becomes ${now[part]}`).toBeLessThanOrEqual(1); });
    }
  });
}

test('who has been here, or follows a link, does not see the opening program first', async ({ page, site }) => {
  await page.route('**/*.wasm', () => {});
  await page.goto(`${site}#text=`);
  await expect(page.getByRole('status')).toHaveText(/Loading/);
  await expect(picture(page)).toHaveCount(0);
});
