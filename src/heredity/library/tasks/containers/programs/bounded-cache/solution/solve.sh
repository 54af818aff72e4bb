#!/bin/bash
set -euo pipefail
cat > /app/cache.py <<'PYTHON'
from collections import OrderedDict


class Cache:
    def __init__(self, size, seconds, clock):
        if size < 1 or not seconds > 0:
            raise ValueError("size must be 1 or more, and seconds above 0")
        self._size, self._seconds, self._clock = size, seconds, clock
        self._entries = OrderedDict()

    def _drop(self):
        now = self._clock()
        for key in [key for key, (_, put) in self._entries.items() if now - put >= self._seconds]:
            del self._entries[key]

    def put(self, key, value):
        self._drop()
        self._entries[key] = (value, self._clock())
        self._entries.move_to_end(key)
        while len(self._entries) > self._size:
            self._entries.popitem(last=False)

    def get(self, key, default=None):
        self._drop()
        if key not in self._entries:
            return default
        self._entries.move_to_end(key)
        return self._entries[key][0]

    def __len__(self):
        self._drop()
        return len(self._entries)

    def __contains__(self, key):
        self._drop()
        return key in self._entries
PYTHON
