class Solution:
    def furnishings(self, rows, columns, pillars, stools):
        taken = {(row, column) for row, column in pillars}
        squares = [(row, column) for row in range(rows) for column in range(columns)]

        def count(place, left):
            while place < len(squares) and squares[place] in taken:
                place += 1
            if place == len(squares):
                return int(left == 0)
            row, column = squares[place]
            total = 0
            taken.add((row, column))
            if left:
                total += count(place + 1, left - 1)
            for other in ((row, column + 1), (row + 1, column)):
                if other[0] < rows and other[1] < columns and other not in taken:
                    taken.add(other)
                    total += count(place + 1, left)
                    taken.remove(other)
            taken.remove((row, column))
            return total

        return count(0, stools) % 1_000_000_007
