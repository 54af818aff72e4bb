class Solution:
    def selections(self, sacks, low, high):
        def sums(part):
            found = [0]
            for sack in part:
                found += [total + sack for total in found]
            return found

        half = len(sacks) // 2
        left, right = sums(sacks[:half]), sums(sacks[half:])
        events = (
            [(low - total, 0) for total in left]
            + [(high - total, 2) for total in left]
            + [(total, 1) for total in right]
        )
        events.sort()
        running = count = 0
        for _, kind in events:
            if kind == 1:
                count += running
            else:
                running += 1 - kind
        return count
