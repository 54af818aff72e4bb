# Submits what Aider has written, shows what it needs to know of it, and ends with 1, because it reads a test that fails.
cd "${HEREDITY_WORKSPACE:-.}" || exit 2
heredity submit --episodes "${EPISODES:-0-1}" --json --note aider
cat "$(ls -d feedback/submit_* | sort -V | tail -1)/summary.json"
exit 1
