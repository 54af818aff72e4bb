# Aider as an agent. It runs no commands by itself when nobody watches, so each of its edits is submitted as its test
# (submit.sh), whose output it reads before it edits again, up to three times. AIDER is its program.
unset PYTHONPATH # The sandbox's packages are for another version of Python.
export OPENAI_API_BASE="$OPENAI_BASE_URL" LITELLM_LOCAL_MODEL_COST_MAP=True
effort=${HEREDITY_EFFORT:+--reasoning-effort $HEREDITY_EFFORT}
"${AIDER:-aider}" --model "openai/$HEREDITY_MODEL" $effort --yes-always --no-git --no-check-update --analytics-disable \
  --no-show-model-warnings --no-show-release-notes --map-tokens 0 --no-auto-lint --no-detect-urls \
  --auto-test --test-cmd "bash $(dirname "$0")/submit.sh" --message "$HEREDITY_PROMPT" --read AGENTS.md $(find system -type f)
code=$?
heredity finish
exit $code
