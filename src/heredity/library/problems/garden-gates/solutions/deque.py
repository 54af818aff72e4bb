from collections import deque


class Solution:
    def firstFault(self, walk):
        stack = deque([""])
        for place, letter in enumerate(walk):
            match stack[-1], letter:
                case ("(", ")") | ("[", "]") | ("{", "}") | ("*", "*"):
                    stack.pop()
                case _, ")" | "]" | "}":
                    return place
                case _:
                    stack.append(letter)
        return len(walk) if len(stack) > 1 else -1
