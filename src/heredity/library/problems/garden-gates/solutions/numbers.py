class Solution:
    def firstFault(self, walk):
        kind = {"(": 1, "[": 2, "{": 3, ")": -1, "]": -2, "}": -3, "*": 0}
        stack = [9]
        for place, letter in enumerate(walk):
            number = kind[letter]
            if stack[-1] == -number:
                stack.pop()
            elif number < 0:
                return place
            else:
                stack.append(number)
        return len(walk) if len(stack) > 1 else -1
