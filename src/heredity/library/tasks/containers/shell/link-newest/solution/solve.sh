#!/bin/bash
set -euo pipefail
mkdir -p /app/current
cd /app/packages
for name in $(ls | grep -v -- '-rc' | sed 's/-[0-9.]*$//' | sort -u); do
    newest=$(ls -d "$name"-* | grep -v -- '-rc' | sort -V | tail -n 1)
    ln -s "../packages/$newest" "/app/current/$name"
done
