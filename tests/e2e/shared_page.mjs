// A page that the tests of a worker use one after another. A start in it takes less than half the
// time of one in a new context, because the browser has compiled the program before. Each test
// finds it as a new one: another document, an empty storage, the window and the colours that the
// test asks for. What cannot be taken back, such as a script for every document, ends the page.

/** Methods that leave something in a page or in its context for good. */
const LASTING = ['addInitScript', 'exposeBinding', 'exposeFunction', 'grantPermissions', 'newCDPSession', 'setExtraHTTPHeaders', 'setGeolocation', 'setOffline'];

/** Playwright's own defaults. */
const MEDIA = { media: null, colorScheme: 'light', reducedMotion: 'no-preference', forcedColors: 'none', contrast: 'no-preference' };

/** A document without scripts. It names an icon, so that the browser asks for none. */
const EMPTY = '<!doctype html><title>Empty</title><link rel="icon" href="data:,">';

/** Goes to an empty document of the site, which shares its storage with the program. */
export async function openEmpty(page, site) {
  const empty = `${site}empty`;
  if (page.url() === empty) return;
  await page.route(empty, (route) => route.fulfill({ contentType: 'text/html', body: EMPTY }));
  await page.goto(empty);
  await page.unroute(empty);
}

/** Calls `before` ahead of each call of a method. */
function precede(object, method, before) {
  const original = object[method];
  if (original === undefined) return;
  object[method] = (...args) => {
    before();
    return original.apply(object, args);
  };
}

export class SharedPage {
  #prepare;
  #page;
  #isSpent = true;
  #hasMedia = false;
  /** What goes wrong in the page is added here; between two tests it is added nowhere. */
  problems;

  /** `prepare` gets each new page and a function that takes problems. */
  constructor(prepare) {
    this.#prepare = prepare;
  }

  /** The page as nobody has used it, in a window of this size. */
  async take(browser, site, viewport) {
    this.problems = undefined;
    // A page that cannot be reset is replaced.
    if (!this.#isSpent) await this.#reset(site, viewport).catch(() => { this.#isSpent = true; });
    if (this.#isSpent) await this.#renew(browser);
    return this.#page;
  }

  async #renew(browser) {
    await this.#page?.context().close();
    const context = await browser.newContext();
    const page = await context.newPage();
    await this.#prepare(page, (problem) => this.problems?.push(problem));
    this.#page = page;
    this.#isSpent = false;
    this.#hasMedia = false;
    const spend = () => { this.#isSpent = true; };
    for (const object of [page, context]) for (const method of LASTING) precede(object, method, spend);
    for (const method of ['install', 'pauseAt', 'setFixedTime', 'setSystemTime']) precede(context.clock, method, spend);
    for (const event of ['close', 'crash']) page.on(event, spend);
    precede(page, 'emulateMedia', () => { this.#hasMedia = true; });
  }

  async #reset(site, viewport) {
    const page = this.#page;
    for (const other of page.context().pages()) if (other !== page) await other.close();
    for (const routed of [page, page.context()]) await routed.unrouteAll({ behavior: 'ignoreErrors' });
    await openEmpty(page, site);
    // What the program stores as it ends, it has stored by now.
    await page.evaluate(() => {
      localStorage.clear();
      sessionStorage.clear();
    });
    if (this.#hasMedia) await page.emulateMedia(MEDIA);
    this.#hasMedia = false;
    const { width, height } = page.viewportSize();
    if (width !== viewport.width || height !== viewport.height) await page.setViewportSize(viewport);
    // Nothing is below the mouse.
    await page.mouse.move(-1, -1);
  }
}
