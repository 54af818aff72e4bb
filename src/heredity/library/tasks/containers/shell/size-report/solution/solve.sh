#!/bin/bash
set -euo pipefail
cd /app/store
{
    find . -mindepth 1 -maxdepth 1 -type d -printf '%P\n' | while IFS= read -r name; do
        size=$(find "$name" -type f -printf '%s\n' | awk '{ sum += $1 } END { print sum + 0 }')
        printf '%s\t%s\n' "$size" "$name"
    done
    size=$(find . -maxdepth 1 -type f -printf '%s\n' | awk '{ sum += $1 } END { print sum + 0 }')
    printf '%s\t.\n' "$size"
} | LC_ALL=C sort -t "$(printf '\t')" -k1,1nr -k2 > /app/sizes.tsv
awk '{ sum += $1 } END { printf "%d\ttotal\n", sum }' /app/sizes.tsv > /tmp/total
cat /tmp/total >> /app/sizes.tsv
