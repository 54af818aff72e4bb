class Solution:
    def furnishings(self, rows, columns, pillars, stools):
        closed = {(row, column) for row, column in pillars}
        layer = {(0, 0): 1}
        for column in range(columns):
            for row in range(rows):
                following = {}
                for (mask, used), count in layer.items():
                    moves = []
                    if (row, column) in closed:
                        if not mask >> row & 1:
                            moves.append((mask, used))
                    elif mask >> row & 1:
                        moves.append((mask ^ 1 << row, used))
                    else:
                        if used < stools:
                            moves.append((mask, used + 1))
                        if column + 1 < columns and (row, column + 1) not in closed:
                            moves.append((mask | 1 << row, used))
                        if row + 1 < rows and not mask >> row + 1 & 1 and (row + 1, column) not in closed:
                            moves.append((mask | 2 << row, used))
                    for move in moves:
                        following[move] = following.get(move, 0) + count
                layer = {move: count % 1_000_000_007 for move, count in following.items()}
        return layer.get((0, stools), 0)
