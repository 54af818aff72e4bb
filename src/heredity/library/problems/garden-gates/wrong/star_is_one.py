class Solution:
    def firstFault(self, walk):
        opener = {")": "(", "]": "[", "}": "{"}
        stack, star = [], False
        for place, letter in enumerate(walk):
            if letter in "([{":
                stack.append(letter)
            elif letter == "*":
                if not star:
                    stack.append(letter)
                elif stack[-1] == "*":
                    stack.pop()
                else:
                    return place
                star = not star
            elif stack and stack[-1] == opener[letter]:
                stack.pop()
            else:
                return place
        return len(walk) if stack else -1
