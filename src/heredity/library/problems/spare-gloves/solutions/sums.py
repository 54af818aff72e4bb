from collections import Counter


class Solution:
    def spareGloves(self, tags):
        seen, left = Counter(), set()
        for tag in tags:
            seen[tag] += 1
            if seen[tag] % 2:
                left = left | {tag} if len(left) < 2 else (left.add(tag) or left)
            else:
                left.discard(tag)
        return sorted(left)
