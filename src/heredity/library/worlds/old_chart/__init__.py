"""The old chart: cross a land whose signs are explained by an old chart."""
