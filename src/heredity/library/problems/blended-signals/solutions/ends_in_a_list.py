class Solution:
    def blends(self, signals):
        # Blends of the stretches that end here, the shortest first, with how many there are of each.
        total, ends = 0, []
        for signal in signals:
            new = [[signal, 1]]
            for end, count in ends:
                if end | signal == new[-1][0]:
                    new[-1][1] += count
                else:
                    new.append([end | signal, count])
            ends = new
            total += sum(end * count for end, count in ends)
        return total
