"""Parts shared by several protocols; no protocol imports another."""
