"""Shows the beginning and the end of long results, so that they do not fill the conversation."""

from heredity_harness import Middleware

MOST = 4000


class Shorten(Middleware):
    def after_tool(self, call, result):
        if len(result) <= MOST:
            return result
        half = MOST // 2
        return f"{result[:half]}\n[{len(result) - 2 * half} characters left out]\n{result[-half:]}"
