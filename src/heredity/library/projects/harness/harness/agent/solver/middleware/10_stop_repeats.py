"""Does not make a call for the third time in a row: it would only show the same again."""

from heredity_harness import Middleware

MOST = 2


class StopRepeats(Middleware):
    def __init__(self):
        self.last, self.times = None, 0

    def before_tool(self, call):
        made = (call.name, call.arguments)
        self.times = self.times + 1 if made == self.last else 1
        self.last = made
        if self.times > MOST:
            return f"Not called: this very call was made {MOST} times in a row. Try something else, or stop."
        return call
