"""The ember caves: fetch an ember from caves whose signs reveal the dangerous chambers."""
