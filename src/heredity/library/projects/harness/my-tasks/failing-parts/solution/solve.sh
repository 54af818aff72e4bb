#!/bin/sh
find /app/logs -name '*.log' -exec awk '$2 == "ERROR" { sub(":", "", $3); print $3 }' {} + \
    | sort | uniq -c | sort -rn | awk '{ print $2, $1 }' > /app/errors.txt
