class Solution:
    def tastings(self, teas, low, high):
        # One number for each kind, two counts, two starts that only move on.
        order = {tea: number for number, tea in enumerate(sorted(set(teas)))}
        row = [order[tea] for tea in teas]
        wide, narrow = [0] * len(order), [0] * len(order)
        many = few = first = second = total = 0
        for tea in row:
            many += wide[tea] == 0
            few += narrow[tea] == 0
            wide[tea] += 1
            narrow[tea] += 1
            while many > high:
                wide[row[first]] -= 1
                many -= wide[row[first]] == 0
                first += 1
            while few >= low:
                narrow[row[second]] -= 1
                few -= narrow[row[second]] == 0
                second += 1
            total += second - first
        return total
