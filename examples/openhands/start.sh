# OpenHands as an agent: its command line without a screen. OPENHANDS is its program.
unset PYTHONPATH # The sandbox's packages are for another version of Python.
export LLM_MODEL="openai/$HEREDITY_MODEL" LLM_BASE_URL="$OPENAI_BASE_URL" LLM_API_KEY="$OPENAI_API_KEY"
export LITELLM_LOCAL_MODEL_COST_MAP=True OPENHANDS_SUPPRESS_BANNER=1
exec "${OPENHANDS:-openhands}" --headless --json --always-approve --override-with-envs --task "$HEREDITY_PROMPT"
