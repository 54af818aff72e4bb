#!/usr/bin/env bash
# Changes one number of the program at a time, and keeps what scores higher.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
exec python3 "$here/climb.py"
