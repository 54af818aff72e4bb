class Solution:
    def flips(self, spans):
        total = 0
        for a, b in spans:
            while a < b:
                low = (a & -a).bit_length() - 1 if a else 63
                step = min(low, (b - a).bit_length() - 1)
                total += 2 * (1 << step) - 1 if step < low or a == 0 else 2 * (1 << step) - 1
                a += 1 << step
                if step == low:
                    total += a.bit_length() and (a & -a).bit_length() - 1 - step
        return total
