class Solution:
    def tastings(self, teas, low, high):
        count = len(teas)
        after, seen = [count] * count, {}
        for place in range(count - 1, -1, -1):
            after[place] = seen.get(teas[place], count)
            seen[teas[place]] = place

        def up_to(kinds):
            # A cup that leaves takes its kind along if the same kind comes again only beyond the end.
            before, start, total, inside = set(), 0, 0, 0
            for place in range(count):
                if teas[place] not in before:
                    inside += 1
                    before.add(teas[place])
                while inside > kinds:
                    if after[start] > place:
                        inside -= 1
                        before.discard(teas[start])
                    start += 1
                total += place + 1 - start
            return total

        return up_to(high) - up_to(low - 1)
