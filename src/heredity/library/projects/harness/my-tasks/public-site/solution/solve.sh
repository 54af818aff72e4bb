#!/bin/sh
cd /app/site || exit 1
chmod 755 . run && chmod 644 index.html && chmod 700 private && chmod 600 private/key
