class Solution:
    def purse(self, first, last):
        def purse(top):
            # Stalls in descending order: those open once, twice, three times …
            total, times, stop = 0, 1, top
            while stop:
                start = top // (times + 1)
                sign = ((stop + 1) // 2 if stop % 2 else -(stop // 2)) - (
                    (start + 1) // 2 if start % 2 else -(start // 2)
                )
                total += times * sign
                stop = start
                if stop:
                    times = top // stop
            return total

        return purse(last) - purse(first - 1)
