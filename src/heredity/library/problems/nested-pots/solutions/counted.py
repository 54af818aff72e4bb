from collections import Counter


class Solution:
    def fewestPiles(self, sizes, gap):
        count = Counter(sizes)
        order = [size for size in sorted(count) for _ in range(count[size])]
        pairs = len(order) // 2
        place = 0
        while place < pairs:
            if order[len(order) - pairs + place] - order[place] < gap:
                pairs -= 1
                place = 0 if pairs < 300 else max(0, place - 1)
            else:
                place += 1
        while not all(a + gap <= b for a, b in zip(order[:pairs], order[len(order) - pairs :])):
            pairs -= 1
        return len(order) - pairs
