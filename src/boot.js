// Starts the page: loads the WebAssembly module and hands its exported functions to the console and to other scripts
// as `wasmBindings`. The bundler names both files in preload links, with a hash of their content.

const module = document.querySelector('link[rel="modulepreload"]').href;
const wasm = document.querySelector('link[rel="preload"][type="application/wasm"]').href;

try {
  const bindings = await import(module);
  await bindings.default({ module_or_path: wasm });
  globalThis.wasmBindings = bindings;
  dispatchEvent(new CustomEvent('fuseline:ready'));
} catch (error) {
  const message = document.createElement('p');
  message.setAttribute('role', 'alert');
  message.textContent = `Fuseline did not start: ${error.message ?? error}. `
    + 'It needs a browser with WebAssembly, and the page must come from a web server (./dev serve), not from a file.';
  document.body.prepend(message);
  throw error;
}
