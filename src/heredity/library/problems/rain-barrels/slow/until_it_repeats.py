class Solution:
    def collected(self, years):
        found = []
        for a, n, m in years:
            seen, total, day = {}, 0, 0
            total = 0
            while day < n:
                total = (total * a + 1) % m
                day += 1
                if day < 1000 and total not in seen:
                    seen[total] = day
                elif day < 1000:
                    n = day + (n - day) % (day - seen[total])
                    seen = {}
            found.append(total)
        return found
