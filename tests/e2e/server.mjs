// A static file server for dist/: `./dev serve` runs it, and the tests and benchmarks import it.

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const TYPES = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json',
};

/** The file under `root` that a request's path names, or null. */
async function fileFor(root, pathname) {
  const path = resolve(root, `.${pathname}`);
  if (path !== root && !path.startsWith(root + sep)) return null;
  const found = await stat(path).catch(() => null);
  if (found?.isFile()) return path;
  if (!found?.isDirectory()) return null;
  const index = join(path, 'index.html');
  return (await stat(index).catch(() => null))?.isFile() ? index : null;
}

/** The compressed copy beside a file that the browser prefers, as `./dev build` writes them, or the file itself. */
async function sentFor(file, accepted) {
  for (const [encoding, ending] of [['br', '.br'], ['gzip', '.gz']]) {
    const path = file + ending;
    if (accepted.includes(encoding) && await stat(path).catch(() => null)) return { path, encoding };
  }
  return { path: file };
}

/**
 * Serves the folder `root` under the path `base` ('/' or '/some/folder/') on 127.0.0.1.
 * Port 0 takes any free one; a taken port is followed by the next, up to `tries` of them.
 * Returns the server and the address of the page.
 */
export async function serve(root, { port = 0, base = '/', tries = 1 } = {}) {
  const folder = resolve(root);
  const server = createServer(async (request, response) => {
    try {
      const pathname = decodeURIComponent(new URL(request.url, 'http://localhost').pathname);
      const file = pathname.startsWith(base) ? await fileFor(folder, `/${pathname.slice(base.length)}`) : null;
      if (!file || !['GET', 'HEAD'].includes(request.method)) {
        response.writeHead(404, { 'Content-Type': TYPES['.txt'] }).end('Not found\n');
        return;
      }
      const { path, encoding } = await sentFor(file, request.headers['accept-encoding'] ?? '');
      const { size, mtimeMs } = await stat(path);
      // A browser asks each time whether its copy is still the one here, and keeps what it has
      // compiled of it.
      const tag = `"${size}-${mtimeMs}"`;
      if (request.headers['if-none-match'] === tag) {
        response.writeHead(304, { 'Cache-Control': 'no-cache', ETag: tag }).end();
        return;
      }
      response.writeHead(200, {
        'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream',
        'Cache-Control': 'no-cache',
        ETag: tag,
        'X-Content-Type-Options': 'nosniff',
        'Content-Length': size,
        Vary: 'Accept-Encoding',
        ...(encoding && { 'Content-Encoding': encoding }),
      });
      if (request.method === 'HEAD') response.end();
      else createReadStream(path).pipe(response);
    } catch {
      response.writeHead(400).end();
    }
  });
  for (let attempt = 1; ; attempt += 1) {
    try {
      await new Promise((listening, failed) => {
        server.once('error', failed);
        server.listen(port, '127.0.0.1', () => {
          server.off('error', failed);
          listening();
        });
      });
      return { server, url: `http://127.0.0.1:${server.address().port}${base}` };
    } catch (error) {
      if (error.code !== 'EADDRINUSE' || attempt >= tries) throw error;
      port += 1;
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [root = 'dist', port = '8080'] = process.argv.slice(2);
  const { url } = await serve(root, { port: Number(port), tries: 100 });
  console.log(`Fuseline is at ${url}  (Ctrl+C stops it)`);
}
