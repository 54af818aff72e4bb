class Solution:
    def read(self, ring):
        texts = []
        for begin in range(len(ring)):
            for step in (1, -1):
                texts.append("".join(ring[(begin + step * i) % len(ring)] for i in range(len(ring))))
        return min(texts)
