class Solution:
    def furnishings(self, rows, columns, pillars, stools):
        modulus = 1_000_000_007
        closed = {(row, column) for row, column in pillars}
        layer = {(0, 0): 1}
        for column in range(columns):
            for row in range(rows):
                following = {}
                for (mask, used), count in layer.items():
                    if mask >> row & 1 or (row, column) in closed:
                        moves = [(mask & ~(1 << row), used)]
                    else:
                        moves = [(mask, used + 1), (mask | 1 << row, used)]
                        if row + 1 < rows and not mask >> row + 1 & 1:
                            moves.append((mask | 2 << row, used))
                    for move in moves:
                        if move[1] <= stools:
                            following[move] = (following.get(move, 0) + count) % modulus
                layer = following
        return layer.get((0, stools), 0)
