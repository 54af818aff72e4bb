class Solution:
    def tastings(self, teas, low, high):
        def at_least(kinds):
            # What follows a tasting of enough kinds may be added to it.
            count, stop, total = {}, 0, 0
            for tea in teas:
                while stop < len(teas) and len(count) < kinds:
                    count[teas[stop]] = count.get(teas[stop], 0) + 1
                    stop += 1
                if len(count) < kinds:
                    break
                total += len(teas) - stop + 1
                count[tea] -= 1
                if not count[tea]:
                    del count[tea]
            return total

        return at_least(low) - at_least(high + 1)
