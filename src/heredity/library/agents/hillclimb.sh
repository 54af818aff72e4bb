#!/bin/sh
# A coding agent in a dozen lines of shell: tries values for one constant with the `heredity submit` command.
# It expects a line `GAIN = <number>` in system/policy.py and keeps the value with the highest mean return.
set -u
best= best_return=
for gain in ${GAINS:-0 0.5 1 2 3 4 8}; do
    sed -i "s/^GAIN = .*/GAIN = $gain/" system/policy.py
    answer=$(heredity submit --episodes "0-1" --note "gain $gain") || break
    echo "$answer"
    mean=$(echo "$answer" | sed -n 's/.*mean_return=\([^ ]*\).*/\1/p')
    if [ -z "$best" ] || [ "$(echo "$mean $best_return" | awk '{print ($1 > $2)}')" = 1 ]; then
        best=$gain best_return=$mean
    fi
done
sed -i "s/^GAIN = .*/GAIN = $best/" system/policy.py
echo "best gain: $best"
heredity finish
