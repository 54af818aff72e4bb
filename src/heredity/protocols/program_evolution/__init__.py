"""Program evolution: any program, measured by any scorer."""
