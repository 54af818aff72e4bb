# Submits what Aider has written, shows the result, and ends with 1, because it reads a test that fails.
cd "${HEREDITY_WORKSPACE:-.}" || exit 2
heredity submit --episodes "${EPISODES:-0-1}" --json --note aider
exit 1
