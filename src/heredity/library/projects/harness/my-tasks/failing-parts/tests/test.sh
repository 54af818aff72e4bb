#!/bin/sh
if [ "$(cat /app/errors.txt)" = "$(printf 'pump 11\nvalve 2\nmotor 1')" ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
