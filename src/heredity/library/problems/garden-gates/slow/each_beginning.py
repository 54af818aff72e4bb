class Solution:
    def firstFault(self, walk):
        opener = {")": "(", "]": "[", "}": "{"}

        def open_after(beginning):
            stack = []
            for letter in beginning:
                if letter in opener:
                    if not stack or stack.pop() != opener[letter]:
                        return None
                elif letter == "*" and stack and stack[-1] == "*":
                    stack.pop()
                else:
                    stack.append(letter)
            return stack

        for place in range(len(walk)):
            if open_after(walk[: place + 1]) is None:
                return place
        return len(walk) if open_after(walk) else -1
