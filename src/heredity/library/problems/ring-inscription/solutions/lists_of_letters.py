class Solution:
    def read(self, ring):
        found = []
        for text in (list(ring), list(reversed(ring))):
            size = len(text)
            text += text
            one, other, same = 0, 1, 0
            while max(one, other, same) < size:
                if text[one + same] == text[other + same]:
                    same += 1
                    continue
                if text[one + same] > text[other + same]:
                    one, other = max(one + same + 1, other), max(one + same + 1, other) + 1
                else:
                    other += same + 1
                same = 0
            found.append("".join(text[one : one + size]))
        return min(found)
