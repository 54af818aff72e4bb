"""The farm in the valley: fields whose crops answer to work in ways of their own."""
