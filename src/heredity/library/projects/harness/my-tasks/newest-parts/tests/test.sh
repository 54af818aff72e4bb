#!/bin/sh
pump=$(readlink /app/current/pump)
valve=$(readlink /app/current/valve)
if [ "$pump $valve" = "../packages/pump-1.10.0 ../packages/valve-2.0.0" ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
