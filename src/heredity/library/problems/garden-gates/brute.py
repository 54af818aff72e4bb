class Solution:
    def firstFault(self, walk):
        def reduced(text):
            while True:
                shorter = text
                for pair in ("()", "[]", "{}", "**"):
                    shorter = shorter.replace(pair, "", 1)
                if shorter == text:
                    return text
                text = shorter

        for place in range(len(walk)):
            if set(reduced(walk[: place + 1])) & set(")]}"):
                return place
        return len(walk) if reduced(walk) else -1
