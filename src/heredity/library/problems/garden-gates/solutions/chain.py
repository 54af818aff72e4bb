class Solution:
    def firstFault(self, walk):
        pairs = {"()", "[]", "{}", "**"}
        stack = None
        for place, letter in enumerate(walk):
            if stack and stack[0] + letter in pairs:
                stack = stack[1]
            elif letter in "([{*":
                stack = (letter, stack)
            else:
                return place
        return -1 if stack is None else len(walk)
