// How the tests start Firefox: the system's own, by WebDriver BiDi, for Playwright's patched one is a download of its own.
// Playwright is pinned to 1.64: since 1.65 it sends each Firefox `emulation.setMediaFeaturesOverride`, which ESR 153 does not know.

export const launchOptions = {
  channel: 'moz-firefox',
  executablePath: process.env.FIREFOX ?? '/usr/bin/firefox-esr',
  // A test may read the clipboard.
  firefoxUserPrefs: { 'dom.events.testing.asyncClipboard': true },
};
