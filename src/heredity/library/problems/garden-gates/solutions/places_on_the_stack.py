class Solution:
    def firstFault(self, walk):
        stack = []
        for place, letter in enumerate(walk):
            last = walk[stack[-1]] if stack else ""
            if last + letter in {"()", "[]", "{}", "**"}:
                stack.pop()
            elif letter in {")", "]", "}"}:
                return place
            else:
                stack.append(place)
        return len(walk) if stack else -1
