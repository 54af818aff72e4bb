#!/bin/bash
set -euo pipefail
cd /app
tar -czf project.tar.gz --exclude='*.tmp' project
find project -type f ! -name '*.tmp' -print0 | LC_ALL=C sort -z | xargs -0 sha256sum > manifest.txt
rm -r project
