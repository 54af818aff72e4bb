class Solution:
    def purse(self, first, last):
        first -= 1
        total, start, before = 0, 1, 0
        while start <= last:
            many, few = last // start, first // start
            stop = last // many
            if few:
                stop = min(stop, first // few)
            now = (stop + 1) // 2 if stop & 1 else -(stop // 2)
            total += (many - few) * (now - before)
            start, before = stop + 1, now
        return total
