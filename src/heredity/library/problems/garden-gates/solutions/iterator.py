class Solution:
    def firstFault(self, walk):
        closer = dict(zip("([{*", ")]}*"))
        stack = ["."]
        letters = iter(enumerate(walk))
        for place, letter in letters:
            if letter == stack[-1]:
                stack.pop()
                continue
            try:
                stack.append(closer[letter])
            except KeyError:
                return place
        return -1 if stack == ["."] else len(walk)
