#!/bin/bash
set -euo pipefail
mkdir -p /app/days
cd /app/days
awk '!/^ / { day = $1 } { print > (day ".log") }' /app/app.log
