class Solution:
    def cheapest(self, colours, prices):
        n = len(colours)
        width = n + 1
        cost = [0] * (width * (n + 2))
        for start in range(n - 1, -1, -1):
            colour, base, below = colours[start], start * width, (start + 1) * width
            # The row of "its own stroke", then bettered by each later board of its colour.
            row = [prices[colour] + one for one in cost[below : below + width]]
            for place in range(start + 1, n):
                if colours[place] == colour:
                    more, on = cost[below + place], place * width
                    row[place + 1 :] = [
                        min(a, more + b) for a, b in zip(row[place + 1 :], cost[on + place + 1 : on + width])
                    ]
            cost[base + start + 1 : base + width] = row[start + 1 :]
        return cost[n]
