class Solution:
    def fewestPiles(self, sizes, gap):
        order = sorted(sizes)
        half = len(order) // 2
        events = [(size + gap, 0) for size in order[:half]] + [(size, 1) for size in order[len(order) - half :]]
        events.sort()
        free = pairs = 0
        for _, outer in events:
            if not outer:
                free += 1
            elif free:
                free -= 1
                pairs += 1
        return len(order) - pairs
