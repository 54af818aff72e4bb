class Solution:
    def firstFault(self, walk):
        stack = ""
        for place, letter in enumerate(walk):
            if stack and stack[-1] + letter in ("()", "[]", "{}", "**"):
                stack = stack[:-1]
            elif letter in ")]}":
                return place
            else:
                stack += letter
        return len(walk) if stack else -1
