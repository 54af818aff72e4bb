class Solution:
    def firstFault(self, walk):
        opener = {")": "(", "]": "[", "}": "{"}
        stack = []
        for place, letter in enumerate(walk):
            if letter in "([{":
                stack.append(letter)
            elif letter == "*":
                if stack and stack[-1] == "*":
                    stack.pop()
                else:
                    stack.append(letter)
            elif stack and stack[-1] == opener[letter]:
                stack.pop()
            else:
                return place
        return len(walk) if stack else -1
