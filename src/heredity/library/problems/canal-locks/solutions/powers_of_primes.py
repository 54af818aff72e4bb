class Solution:
    def routes(self, rows, columns, closed):
        modulus = 1_000_000_007
        logs = [1]
        for number in range(1, max(rows, columns) * 2 + 1):
            logs.append(logs[-1] * number % modulus)
        memory = {}

        def paths(down, right):
            if right > down:
                down, right = right, down
            if right < 0:
                return 0
            if (down, right) not in memory:
                memory[down, right] = (
                    logs[down + right] * pow(logs[down] * logs[right] % modulus, modulus - 2, modulus) % modulus
                )
            return memory[down, right]

        stops = [(rows - 1, columns - 1), *sorted(map(tuple, closed), reverse=True)]
        goal, after = stops[0], []
        for i, (row, column) in enumerate(stops[1:], 1):
            total = paths(goal[0] - row, goal[1] - column)
            for (r, c), ways in zip(stops[1:i], after):
                total -= paths(r - row, c - column) * ways
            after.append(total % modulus)
        whole = paths(*goal)
        for (row, column), ways in zip(stops[1:], after):
            whole -= paths(row, column) * ways
        return whole % modulus
