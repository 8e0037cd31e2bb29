// What Trunk runs after each build. Trunk starts all hooks of a stage at once, but the service
// worker's list has the hash of the finished index.html.

import './index_html.mjs';
import './service_worker_files.mjs';
