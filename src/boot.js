// Starts the page: loads the WebAssembly module and hands its exported functions to the console and
// to other scripts as `wasmBindings`. The bundler names both files in preload links, with a hash of
// their content.

const module = document.querySelector('link[rel="modulepreload"]').href;
const wasm = document.querySelector('link[rel="preload"][type="application/wasm"]').href;
const state = document.querySelector('#loading-state');
const progress = document.querySelector('#loading-progress');

const help = document.querySelector('.loading-help');

/** Whether the page will open with the opening program: nothing of Fuseline is stored here, and the address asks for nothing. */
function isFirstVisit() {
  if (location.hash || location.search) return false;
  try {
    return !Object.keys(localStorage).some((key) => key.startsWith('fuseline.'));
  } catch {
    return true; // Nothing can be stored here.
  }
}

const picture = document.querySelector('#first-picture');
if (isFirstVisit()) {
  // The policy allows styles by script, and none in the text of the page.
  for (const part of picture.querySelectorAll('[data-style]')) part.style.cssText = part.dataset.style;
  picture.hidden = false;
  document.querySelector('#loading').classList.add('is-beside');
} else {
  picture.remove();
}

/** The page runs, so its help is for a load that stands still, and not for a slow one. */
let stalled;
function expectProgress() {
  help.hidden = true;
  clearTimeout(stalled);
  stalled = setTimeout(() => { help.hidden = false; }, 10000);
}

const megabytes = (bytes) => (bytes / 1e6).toFixed(1);

/** Shows how much of the response has come, until all of it has. */
async function follow(response) {
  // Most hosts compress the program. Then its length is that of what is sent, and what comes out
  // here is longer: the share that has come is one of the program's own size, which the build wrote
  // into index.html.
  const whole = Number(progress.dataset.bytes);
  const sent = Number(response.headers.get('Content-Length')) || whole;
  let loaded = 0;
  for (const reader = response.body.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) break;
    loaded += value.length;
    expectProgress();
    progress.value = loaded / whole;
    const text = `Loading ${megabytes(sent * loaded / whole)} of ${megabytes(sent)} MB`;
    // A screen reader reads out each change, so none is made for less than a tenth of a megabyte.
    if (state.textContent !== text) state.textContent = text;
  }
  progress.removeAttribute('value');
  state.textContent = 'Starting…';
}

/** What the visitor can do about a failed start. */
function advice(error) {
  if (typeof WebAssembly === 'undefined') return 'It needs a browser with WebAssembly.';
  if (error instanceof TypeError) {
    return 'A part of it could not be loaded: the connection was lost, or a newer version was published meanwhile. Reload the page.';
  }
  return 'Reload the page; if that does not help, use a newer browser.';
}

try {
  expectProgress();
  const [bindings, response] = await Promise.all([import(module), fetch(wasm)]);
  if (!response.ok) throw new TypeError(`${response.status} for ${wasm}`);
  follow(response.clone()).catch(() => {});
  await bindings.default({ module_or_path: response });
  globalThis.wasmBindings = bindings;
  dispatchEvent(new CustomEvent('fuseline:ready'));
} catch (error) {
  clearTimeout(stalled);
  progress.remove();
  state.setAttribute('role', 'alert');
  state.textContent = `Fuseline did not start. ${advice(error)} (${error.message ?? error})`;
  const reload = document.createElement('button');
  reload.type = 'button';
  reload.textContent = 'Reload';
  reload.addEventListener('click', () => location.reload());
  state.after(reload);
  throw error;
}
