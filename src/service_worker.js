// Keeps one whole build of the page for visits without a network, and serves that build alone. The
// build writes two constants before these lines: VERSION, and FILES from the address of each file
// to its hash.

// Copies of the page in other folders of this host have caches of their own.
const OURS = `fuseline ${registration.scope} `;
const CACHE = OURS + VERSION;

// All files or none: one that is missing, or is of another build by its hash, fails the
// installation. The worker that was installed before stays then.
addEventListener('install', (event) => {
  const requests = [...FILES].map(([file, integrity]) => new Request(file, { integrity, cache: 'no-cache' }));
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(requests)));
});

// No page shows the build before any more.
addEventListener('activate', (event) => {
  const isOld = (name) => name.startsWith(OURS) && name !== CACHE;
  event.waitUntil(caches.keys().then((names) => Promise.all(names.filter(isOld).map((name) => caches.delete(name)))));
});

// An installed worker waits until the visitor says so in the page, or until all pages are closed.
addEventListener('message', ({ data }) => {
  if (data === 'switch') skipWaiting();
});

/** The address in FILES that a request is for, whatever follows `?`. */
function fileOf(url) {
  const [address] = url.split(/[?#]/, 1);
  if (!address.startsWith(registration.scope)) return undefined;
  const file = address.slice(registration.scope.length);
  return file === '' || file === 'index.html' ? './' : file;
}

async function answer(request, file) {
  const cache = await caches.open(CACHE);
  return (await cache.match(file, { ignoreVary: true })) ?? fetch(request);
}

addEventListener('fetch', (event) => {
  const file = fileOf(event.request.url);
  if (event.request.method === 'GET' && FILES.has(file)) event.respondWith(answer(event.request, file));
});
