class Solution:
    def winningKnocks(self, rows):
        high = max(rows)
        values, places = [0, 0], {0: {0, 1}}
        for length in range(2, high + 1):
            reached = set()
            for size in (2, 3):
                rest = length - size
                for left in range(rest // 2 + 1):
                    reached.add(values[left] ^ values[rest - left])
            value = 0
            while value in reached:
                value += 1
            values.append(value)
            places.setdefault(value, set()).add(length)
        whole = 0
        for row in rows:
            whole ^= values[row]
        if not whole:
            return 0
        wins = {}
        for row in set(rows):
            goal, total = whole ^ values[row], 0
            for size in (2, 3):
                for left in range(row - size + 1):
                    total += row - size - left in places.get(goal ^ values[left], ())
            wins[row] = total
        return sum(wins[row] for row in rows)
