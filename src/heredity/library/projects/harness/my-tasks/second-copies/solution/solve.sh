#!/bin/sh
cd /app/docs || exit 1
rm c.txt "old/copy of a.txt"
printf 'c.txt\nold/copy of a.txt\n' > /app/removed.txt
