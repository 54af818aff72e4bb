"""Suites that come with Heredity: `heredity suites` lists them, `heredity run demo` runs one."""
