class Solution:
    def firstFault(self, walk):
        pairs = {"()", "[]", "{}", "**"}
        stack, start = [], 0
        while start < len(walk):
            piece = walk[start : start + 64]
            # Neighbours that are a pair of brackets can go at once; a fault would stand in what is left.
            short = piece.replace("()", "").replace("[]", "").replace("{}", "")
            before = list(stack)
            for letter in short:
                if stack and stack[-1] + letter in pairs:
                    stack.pop()
                elif letter in ")]}":
                    stack = before
                    for place, again in enumerate(piece, start):
                        if stack and stack[-1] + again in pairs:
                            stack.pop()
                        elif again in ")]}":
                            return place
                        else:
                            stack.append(again)
                else:
                    stack.append(letter)
            start += 64
            if len(stack) > 2000:
                break
        for place in range(start, len(walk)):
            letter = walk[place]
            if stack and stack[-1] + letter in pairs:
                stack.pop()
            elif letter in ")]}":
                return place
            else:
                stack.append(letter)
        return len(walk) if stack else -1
