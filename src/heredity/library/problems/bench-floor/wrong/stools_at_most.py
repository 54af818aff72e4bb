class Solution:
    def furnishings(self, rows, columns, pillars, stools):
        modulus = 1_000_000_007
        closed = {(row, column) for row, column in pillars}
        layer = {(0, 0): 1}
        for column in range(columns):
            for row in range(rows):
                following = {}
                for (mask, used), count in layer.items():
                    moves = []
                    if mask >> row & 1 or (row, column) in closed:
                        if mask >> row & 1 and (row, column) in closed:
                            continue
                        moves.append((mask & ~(1 << row), used))
                    else:
                        moves.append((mask, used + 1))
                        if column + 1 < columns:
                            moves.append((mask | 1 << row, used))
                        if row + 1 < rows and not mask >> row + 1 & 1:
                            moves.append((mask | 2 << row, used))
                    for move in moves:
                        if move[1] <= stools:
                            following[move] = (following.get(move, 0) + count) % modulus
                layer = following
        return sum(layer.get((0, used), 0) for used in range(stools + 1)) % modulus
