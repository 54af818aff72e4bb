class Solution:
    def bestLead(self, coins):
        count = len(coins)
        known = {}
        stack = [(0, count, 1, 1)]
        while stack:
            state = stack[-1]
            start, end, mine, yours = state
            if state in known:
                stack.pop()
                continue
            if start == end:
                known[state] = 0
                continue
            moves = [(coins[start], (start + 1, end, yours, mine)), (coins[end - 1], (start, end - 1, yours, mine))]
            if mine and end - start > 1:
                moves.append((coins[start] + coins[start + 1], (start + 2, end, yours, 0)))
                moves.append((coins[end - 1] + coins[end - 2], (start, end - 2, yours, 0)))
            missing = [after for _, after in moves if after not in known]
            if missing:
                stack += missing
            else:
                known[state] = max(value - known[after] for value, after in moves)
        return known[0, count, 1, 1]
