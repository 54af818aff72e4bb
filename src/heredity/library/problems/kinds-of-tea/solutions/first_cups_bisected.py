class Solution:
    def tastings(self, teas, low, high):
        # The last cups of the kinds, oldest first: the window begins behind the last cup of the kind that is one too many.
        def starts(kinds):
            last, order, head, found = {}, [], 0, []
            alive = 0
            for place, tea in enumerate(teas):
                alive += tea not in last
                last[tea] = place
                order.append(tea)
                while alive > kinds:
                    old = order[head]
                    if last.get(old) == head:
                        del last[old]
                        alive -= 1
                    head += 1
                found.append(head)
            return found

        wide, narrow = starts(high), starts(low - 1)
        return sum(narrow) - sum(wide)
