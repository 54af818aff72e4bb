#!/usr/bin/env bash
# Started in the workspace as `bash start.sh`. Copies what the route needs into code/, and runs it there: what ran is on record.
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
: "${WORKSPACE:=$PWD}" "${ROUTE:=sft-grpo}" "${TORCH_THREADS:=1}"

case "$ROUTE" in
  sft) parts="workspace policy lora rounds pace supervised" ;;
  sft-grpo) parts="workspace policy lora rounds pace supervised online games grpo" ;;
  rejection) parts="workspace policy lora rounds pace supervised online games" ;;
  copy) parts="workspace" ;;
  broken) parts="workspace policy lora pace supervised" ;;
  *)
    echo "ROUTE is '$ROUTE'; expected sft, sft-grpo, rejection, copy or broken" >&2
    exit 2
    ;;
esac

main="route_${ROUTE//-/_}"
mkdir -p "$WORKSPACE/code"
for part in $parts "$main"; do
  cat "$here/$part.py" > "$WORKSPACE/code/$part.py"
done

export WORKSPACE TORCH_THREADS OMP_NUM_THREADS="$TORCH_THREADS"
export HF_HUB_OFFLINE=1 TQDM_DISABLE=1 TOKENIZERS_PARALLELISM=false
export PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
echo "route: $ROUTE"
exec "${PYTHON:-python3}" "$WORKSPACE/code/$main.py"
