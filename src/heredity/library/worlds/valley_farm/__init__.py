"""The valley farm: fields whose crops answer to work in ways of their own."""
