// How the tests start Firefox: the system's own, by WebDriver BiDi, for Playwright's patched one is
// a download of its own. Playwright is pinned to 1.64: since 1.65 it sends each Firefox
// `emulation.setMediaFeaturesOverride`, which ESR 153 does not know.
import { execFileSync } from 'node:child_process';

const executablePath = process.env.FIREFOX ?? '/usr/bin/firefox-esr';

// Playwright's first commands (`network.addDataCollector`, `browser.setDownloadBehavior`) are
// unknown to ESR 140, the one before, which some mirrors of Debian still have.
const OLDEST_VERSION = 153;

export const launchOptions = {
  channel: 'moz-firefox',
  executablePath,
  // A test may read the clipboard.
  firefoxUserPrefs: { 'dom.events.testing.asyncClipboard': true },
};

/** Why the tests leave this Firefox out; nothing where they drive it. */
export function whyLeftOut() {
  const name = execFileSync(executablePath, ['--version'], { encoding: 'utf8' }).trim();
  const version = Number(/\d+/.exec(name)?.[0]);
  return version < OLDEST_VERSION ? `Left out, the tests in Firefox: ${name} is older than ${OLDEST_VERSION}, the oldest that they drive` : undefined;
}
