#!/usr/bin/env bash
# Started in the workspace; what is copied into code/ and run there is on record.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
mkdir -p code
cat "$here/train.py" > code/train.py
export HF_HUB_OFFLINE=1 TQDM_DISABLE=1 TOKENIZERS_PARALLELISM=false PYTHONUNBUFFERED=1
exec "${PYTHON:-python3}" code/train.py
