class Solution:
    def read(self, ring):
        best = ring
        for text in (ring, ring[::-1]):
            for begin in range(len(ring)):
                best = min(best, text[begin:] + text[:begin])
        return best
