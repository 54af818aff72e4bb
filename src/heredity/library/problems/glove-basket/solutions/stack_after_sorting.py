class Solution:
    def lonely(self, gloves):
        stack = []
        for glove in sorted(gloves, key=lambda glove: (abs(glove), glove)):
            if stack and stack[-1] == -glove:
                stack.pop()
            else:
                stack.append(glove)
        return len(stack)
