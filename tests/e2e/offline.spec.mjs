// The service worker: visits without a network, a newer version beside the one that is shown, a
// deployment that is broken.

import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { accessibilityFindings, expect, test as base } from './fixture.mjs';
import { serve } from './server.mjs';
import { editor, untilStored, write } from './visitor.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const test = base.extend({
  /** A host to which builds are published, and which can be stopped. */
  host: [async ({}, use) => {
    const folder = mkdtempSync(join(tmpdir(), 'host-'));
    const start = async (port) => {
      const started = await serve(folder, { base: '/some/folder/', port });
      started.server.on('request', ({ url }) => host.asked.push(url.slice('/some/folder/'.length)));
      return started;
    };
    const host = {
      /** What was asked of it, in order. */
      asked: [],
      /** Publishes a build under a title, all of it but the files of `missing`. */
      publish(title, missing = []) {
        rmSync(folder, { recursive: true });
        // What is changed here has no compressed copy.
        cpSync(`${ROOT}dist`, folder, { recursive: true, filter: (path) => !/\.(br|gz)$/.test(path) });
        const change = (name, from, to) => writeFileSync(join(folder, name), readFileSync(join(folder, name), 'utf8').replace(from, to));
        change('index.html', 'name=description', `name=description data-build=${title}`);
        change('measured/h200.json', /"device": ?"/, `"device":"${title} of `);
        execFileSync('node', [`${ROOT}src/service_worker_files.mjs`], { env: { ...process.env, TRUNK_STAGING_DIR: folder } });
        for (const name of missing) rmSync(join(folder, name));
      },
      overwrite: (name, content) => writeFileSync(join(folder, name), content),
      async stop() {
        server.closeAllConnections();
        await new Promise((stopped) => { server.close(stopped); });
      },
      async restart() {
        ({ server } = await start(Number(new URL(host.url).port)));
      },
    };
    let server;
    ({ server, url: host.url } = await start(0));
    await use(host);
    await host.stop();
    rmSync(folder, { recursive: true });
  }, { scope: 'worker' }],
  site: [async ({ host }, use) => { await use(host.url); }, { scope: 'worker' }],
});

test.use({ serviceWorkers: 'allow' });

const newVersion = (page) => page.getByRole('status').filter({ hasText: 'A new version is ready.' });

/** The document is that of the build with this title. */
const expectBuild = (page, title) => expect(page.locator('meta[name=description]')).toHaveAttribute('data-build', title);

/** Waits until the build of the page is kept. */
const kept = (page) => page.evaluate(() => navigator.serviceWorker.ready.then(() => true));

/** Looks for a newer build, and waits until it is there or has failed. */
const lookAgain = (page) => page.evaluate(async () => {
  const registration = await navigator.serviceWorker.ready;
  const found = await registration.update();
  const newer = found.installing ?? found.waiting;
  while (newer && !['installed', 'redundant'].includes(newer.state)) {
    await new Promise((changed) => { newer.addEventListener('statechange', changed, { once: true }); });
  }
  return newer?.state;
});

test('the first visit keeps the page, after it has started; later ones need no network', { tag: '@firefox' }, async ({ page, host, visit }) => {
  host.publish('one');
  host.asked.length = 0;
  await visit();
  await kept(page);
  const wasm = host.asked.findIndex((name) => name.endsWith('.wasm'));
  expect(wasm).toBeGreaterThanOrEqual(0);
  expect(host.asked.indexOf('service_worker.js')).toBeGreaterThan(wasm);

  host.asked.length = 0;
  await visit();
  await expect.poll(() => host.asked).toContain('service_worker.js');
  expect(new Set(host.asked)).toEqual(new Set(['service_worker.js']));

  await host.stop();
  await visit('?embed=graph,roofline');
  await expect(page.getByRole('region', { name: 'Roofline' })).toBeVisible();
  await visit();
  await page.getByRole('tab', { name: 'Measured' }).click();
  await expect(page.getByRole('tabpanel', { name: 'Measured' }).locator('tbody tr').first()).toBeVisible();
  expect(await page.evaluate(() => fetch('worker.js').then((response) => response.text()))).toContain('run_job');
  expect(await accessibilityFindings(page)).toEqual([]);
  await host.restart();
});

test('a new version waits until the visitor wants it, and then replaces the old one in all tabs', { tag: '@firefox' }, async ({ page, context, host, visit, problems }) => {
  host.publish('one');
  await visit();
  await kept(page);
  await visit();
  const second = await context.newPage();
  second.on('pageerror', (error) => problems.push(`uncaught: ${error.message}`));
  await second.goto(host.url);
  await expect(editor(second)).toBeVisible();

  host.publish('two');
  await page.reload();
  await expect(newVersion(page)).toBeVisible();
  await expect(newVersion(second)).toBeVisible();
  await expectBuild(page, 'one');
  // Files without a hash in their name are those of the old one, too.
  expect(await page.evaluate(() => fetch('measured/h200.json').then((response) => response.text()))).toContain('one of ');
  expect(await accessibilityFindings(page)).toEqual([]);
  const text = 'input x: f32[8]\ny = relu(x)\n';
  await write(second, text);

  const starts = { page: 0, second: 0 };
  page.on('load', () => { starts.page += 1; });
  second.on('load', () => { starts.second += 1; });
  await newVersion(page).getByRole('button', { name: 'Reload' }).click();
  for (const tab of [page, second]) {
    await expectBuild(tab, 'two');
    await expect(editor(tab)).toBeVisible();
    await expect(newVersion(tab)).toHaveCount(0);
  }
  await expect(editor(second)).toHaveValue(text);
  expect(await page.evaluate(() => fetch('measured/h200.json').then((response) => response.text()))).toContain('two of ');
  expect(await page.evaluate(() => caches.keys())).toHaveLength(1);
  // A loop would have come round by now: both tabs have started and looked for a newer version.
  expect(await lookAgain(page)).toBeUndefined();
  expect(await lookAgain(second)).toBeUndefined();
  expect(starts).toEqual({ page: 1, second: 1 });
});

test('a text that the browser does not keep is not lost to a new version', { tag: '@firefox' }, async ({ page, host, visit }) => {
  host.publish('one');
  await visit();
  await kept(page);
  await visit();
  await page.evaluate(() => { Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }; });
  await write(page, 'input x: f32[8]\ny = relu(x)\n');
  await expect(page.getByRole('button', { name: 'Save as a file' })).toBeVisible();
  host.publish('two');
  // A look that the page began before the new build was there may answer for this one.
  await expect.poll(() => lookAgain(page)).toBe('installed');
  await expect(newVersion(page)).toHaveCount(0);
  // As another tab would.
  await page.evaluate(async () => {
    const switched = new Promise((changed) => { navigator.serviceWorker.addEventListener('controllerchange', changed); });
    (await navigator.serviceWorker.ready).waiting.postMessage('switch');
    await switched;
  });
  await expect(editor(page)).toHaveValue(/relu\(x\)/);
  await expectBuild(page, 'one');
});

for (const [what, missing] of [['lacks a file', ['worker.js']], ['lacks its worker', ['service_worker.js']]]) {
  test(`a deployment that ${what} leaves the old version whole`, { tag: '@firefox' }, async ({ page, host, visit, problems }) => {
    host.publish('one');
    await visit();
    await kept(page);
    await write(page, 'input x: f32[8]\ny = relu(x)\n');
    await untilStored(page, 'relu(x)');
    host.publish('two', missing);
    expect(await lookAgain(page).catch(() => 'failed')).toMatch(/^(redundant|failed)$/);
    await visit();
    await expectBuild(page, 'one');
    await expect(editor(page)).toHaveValue(/relu\(x\)/);
    await expect(newVersion(page)).toHaveCount(0);
    await host.stop();
    await visit();
    await expectBuild(page, 'one');
    expect(await page.evaluate(() => fetch('worker.js').then((response) => response.ok))).toBe(true);
    await host.restart();
    problems.length = 0; // what the broken deployment provoked
  });
}

test('a file of another build under the right name is refused', { tag: '@firefox' }, async ({ page, host, visit, problems }) => {
  host.publish('one');
  await visit();
  await kept(page);
  host.publish('two');
  host.overwrite('worker.js', '// of a third build\n');
  expect(await lookAgain(page)).toBe('redundant');
  await visit();
  await expectBuild(page, 'one');
  problems.length = 0;
});
