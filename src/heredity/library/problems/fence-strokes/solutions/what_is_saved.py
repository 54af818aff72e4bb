class Solution:
    def cheapest(self, colours, prices):
        # A stroke for each board, less what strokes that go on save.
        count = len(colours)
        saved = [[0] * (count + 1) for _ in range(count + 1)]
        for start in range(count - 2, -1, -1):
            price = prices[colours[start]]
            same = [place for place in range(start + 1, count) if colours[place] == colours[start]]
            below = saved[start + 1]
            row = below[:]
            for place in same:
                more, on = price + below[place], saved[place]
                for stop in range(place + 1, count + 1):
                    if more + on[stop] > row[stop]:
                        row[stop] = more + on[stop]
            saved[start] = row
        return sum(prices[colour] for colour in colours) - saved[0][count]
