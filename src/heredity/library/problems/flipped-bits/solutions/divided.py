class Solution:
    def flips(self, spans):
        total = 0
        for a, b in spans:
            step = 1
            while step <= b:
                total += b // step - a // step
                step *= 2
        return total
