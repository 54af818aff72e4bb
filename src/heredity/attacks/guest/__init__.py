"""What attack programs bring along into the sandbox."""
