from collections import Counter


class Solution:
    def winningKnocks(self, rows):
        groups = Counter(rows)
        values = [0] * (max(rows) + 1)
        for length in range(2, len(values)):
            seen = [False] * 1024
            for size in (2, 3):
                for left in range(length - size + 1):
                    seen[values[left] ^ values[length - size - left]] = True
            values[length] = seen.index(False)
        whole = 0
        for row, count in groups.items():
            if count % 2:
                whole ^= values[row]
        if not whole:
            return 0
        found = 0
        for row, count in groups.items():
            wins = 0
            for size in (2, 3):
                for left in range(row - size + 1):
                    if values[left] ^ values[row - size - left] == whole ^ values[row]:
                        wins += 1
            found += wins * count
        return found
