"""The kind of program tasks: a program is run or called in the sandbox, and a scorer says what it is worth."""
