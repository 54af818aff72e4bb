class Solution:
    def read(self, ring):
        best = None
        for text in (ring.encode(), ring.encode()[::-1]):
            size, text = len(text), text * 2
            one, other, same = 0, 1, 0
            while one < size and other < size and same < size:
                a, b = text[one + same], text[other + same]
                if a == b:
                    same += 1
                else:
                    one, other = (one + same + 1, other) if a > b else (one, other + same + 1)
                    if one == other:
                        other += 1
                    same = 0
            begin = min(one, other)
            text = text[begin : begin + size]
            best = text if best is None else min(best, text)
        return best.decode()
