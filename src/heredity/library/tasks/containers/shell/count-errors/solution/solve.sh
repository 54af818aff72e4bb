#!/bin/bash
set -euo pipefail
find /app/logs -name '*.log' -exec awk '$2 == "ERROR" { sub(":", "", $3); print $3 }' {} + \
    | sort | uniq -c | awk '{ print $2, $1 }' | sort -k2,2nr -k1,1 > /app/errors.txt
