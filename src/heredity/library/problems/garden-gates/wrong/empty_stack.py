class Solution:
    def firstFault(self, walk):
        opener = {")": "(", "]": "[", "}": "{", "*": "*"}
        stack = []
        for place, letter in enumerate(walk):
            if letter in "([{" or letter == "*" and stack[-1:] != ["*"]:
                stack.append(letter)
            elif stack.pop() != opener[letter]:
                return place
        return len(walk) if stack else -1
