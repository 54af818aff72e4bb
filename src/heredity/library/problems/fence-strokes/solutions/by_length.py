class Solution:
    def cheapest(self, colours, prices):
        row = colours[:1]
        for colour in colours:
            if colour != row[-1]:
                row.append(colour)
        count = len(row)
        cost = [[0] * (count + 1)] + [None] * count
        # cost[length][start]
        for length in range(1, count + 1):
            found = []
            for start in range(count - length + 1):
                colour = row[start]
                best = prices[colour] + cost[length - 1][start + 1]
                for skip in range(2, length):
                    if row[start + skip] == colour:
                        best = min(best, cost[skip - 1][start + 1] + cost[length - skip][start + skip])
                found.append(best)
            cost[length] = [*found, 0]
        return cost[count][0]
