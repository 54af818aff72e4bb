class Solution:
    def fewestPiles(self, sizes, gap):
        order = sorted(sizes)
        half = len(order) // 2
        inner = iter(order[:half])
        current, pairs = next(inner, None), 0
        for size in order[len(order) - half :]:
            if current is not None and current + gap <= size:
                pairs += 1
                current = next(inner, None)
        return len(order) - pairs
