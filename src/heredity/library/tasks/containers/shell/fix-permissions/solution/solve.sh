#!/bin/bash
set -euo pipefail
cd /app/site
find . -type d -exec chmod 755 {} +
find . -type f | while IFS= read -r path; do
    if [ "$(head -c 2 "$path")" = '#!' ]; then chmod 755 "$path"; else chmod 644 "$path"; fi
done
find private -type d -exec chmod 700 {} +
find private -type f -exec chmod 600 {} +
