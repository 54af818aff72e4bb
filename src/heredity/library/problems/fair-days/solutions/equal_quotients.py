class Solution:
    def purse(self, first, last):
        def stalls(top):
            return (top + 1) // 2 if top % 2 else -top // 2

        def purse(top):
            total, start = 0, 1
            while start <= top:
                times = top // start
                stop = top // times
                total += times * (stalls(stop) - stalls(start - 1))
                start = stop + 1
            return total

        return purse(last) - purse(first - 1)
