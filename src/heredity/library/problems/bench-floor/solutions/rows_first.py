class Solution:
    def furnishings(self, rows, columns, pillars, stools):
        modulus = 1_000_000_007
        closed = {row * columns + column for row, column in pillars}
        if rows > columns:
            closed = {(place % columns) * rows + place // columns for place in closed}
            rows, columns = columns, rows
        ways = {(0, stools): 1}
        for column in range(columns):
            for row in range(rows):
                free, following = row * columns + column not in closed, {}
                for (mask, left), count in ways.items():
                    options = []
                    if mask & 1:
                        if free:
                            options.append((mask >> 1, left))
                    elif not free:
                        options.append((mask >> 1, left))
                    else:
                        options.append((mask >> 1, left - 1))
                        if column < columns - 1:
                            options.append((mask >> 1 | 1 << rows - 1, left))
                        if row < rows - 1 and not mask & 2:
                            options.append((mask >> 1 | 1, left))
                    for key in options:
                        if key[1] >= 0:
                            following[key] = (following.get(key, 0) + count) % modulus
                ways = following
        return ways.get((0, 0), 0)
