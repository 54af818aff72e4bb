#!/bin/sh
mkdir -p /app/current
ln -s ../packages/pump-1.10.0 /app/current/pump
ln -s ../packages/valve-2.0.0 /app/current/valve
