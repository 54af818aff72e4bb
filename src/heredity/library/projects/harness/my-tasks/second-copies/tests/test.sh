#!/bin/sh
cd /app/docs || exit 1
if [ "$(cat /app/removed.txt)" = "$(printf 'c.txt\nold/copy of a.txt')" ] && [ "$(find . -type f | sort | tr '\n' ' ')" = "./a.txt ./b.txt " ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
