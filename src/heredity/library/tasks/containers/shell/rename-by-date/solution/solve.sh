#!/bin/bash
set -euo pipefail
cd /app/photos
for day in $(ls IMG_*.jpg | cut -d_ -f2 | sort -u); do
    k=0
    for n in $(ls IMG_"$day"_*.jpg | sed 's/.*_\([0-9]*\)\.jpg/\1/' | sort -n); do
        k=$((k + 1))
        mv "IMG_${day}_$n.jpg" "${day:0:4}-${day:4:2}-${day:6:2}_$(printf %02d $k).jpg"
    done
done
