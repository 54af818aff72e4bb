class Solution:
    def winningKnocks(self, rows):
        values = [0, 0]
        for length in range(2, max(rows) + 1):
            reached = 0
            for size in (2, 3):
                for left in range((length - size) // 2 + 1):
                    reached |= 1 << (values[left] ^ values[length - size - left])
            values.append((~reached & reached + 1).bit_length() - 1)
        whole = 0
        for row in rows:
            whole ^= values[row]
        if whole == 0:
            return 0
        found, known = 0, {}
        for row in rows:
            if row not in known:
                known[row] = 0
                for size in (2, 3):
                    for left in range(row - size + 1):
                        known[row] += values[left] ^ values[row - size - left] ^ values[row] == whole
            found += known[row]
        return found
