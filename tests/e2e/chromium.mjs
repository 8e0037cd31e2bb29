// How every test and benchmark starts Chromium: the system's own, with no traffic of its own.

export const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';

export const args = [
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), // Chromium's sandbox refuses to run as root
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
