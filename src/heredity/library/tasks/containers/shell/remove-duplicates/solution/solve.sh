#!/bin/bash
set -euo pipefail
cd /app/docs
find . -type f -printf '%P\n' | LC_ALL=C sort > /tmp/paths
: > /app/removed.txt
declare -A seen
while IFS= read -r path; do
    sum=$(sha256sum < "$path")
    if [ -n "${seen[$sum]:-}" ]; then
        rm -- "$path"
        printf '%s\n' "$path" >> /app/removed.txt
    fi
    seen[$sum]=1
done < /tmp/paths
