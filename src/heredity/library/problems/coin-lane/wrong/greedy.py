class Solution:
    def bestLead(self, coins):
        from_left, total, turn, pairs = list(coins), 0, 1, {1: True, -1: True}
        while from_left:
            ends = [(from_left[0], 1, 0), (from_left[-1], 1, 1)]
            if pairs[turn] and len(from_left) > 1:
                ends += [(sum(from_left[:2]), 2, 0), (sum(from_left[-2:]), 2, 1)]
            value, size, side = max(ends)
            total += turn * value
            pairs[turn] = pairs[turn] and size == 1
            from_left = from_left[:-size] if side else from_left[size:]
            turn = -turn
        return total
