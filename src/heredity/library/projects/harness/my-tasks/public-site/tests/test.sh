#!/bin/sh
cd /app/site || exit 1
if [ "$(stat -c %a . index.html run private private/key | tr '\n' ' ')" = "755 644 755 700 600 " ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
