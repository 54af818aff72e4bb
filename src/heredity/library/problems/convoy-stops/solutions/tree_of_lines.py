class Solution:
    def leastTrouble(self, crates, ideal):
        sums = [0]
        for crate in crates:
            sums.append(sums[-1] + crate)
        size = 1 << len(sums).bit_length()
        sums += [sums[-1]] * (size - len(sums))
        tree = [None] * (2 * size)

        def put(m, b):
            node, low, high = 1, 0, size
            while tree[node] is not None:
                middle = (low + high) // 2
                x = sums[middle]
                n, c = tree[node]
                if m * x + b < n * x + c:
                    tree[node] = m, b
                    m, b, n, c = n, c, m, b
                if high - low == 1:
                    return
                # The loser may still win on the side where its slope helps.
                if m > n:
                    node, high = 2 * node, middle
                else:
                    node, low = 2 * node + 1, middle
            tree[node] = m, b

        best = 0
        for place in range(len(crates) + 1):
            x = sums[place]
            if place:
                node, best = place + size, 1 << 90
                while node:
                    if tree[node] is not None:
                        best = min(best, tree[node][0] * x + tree[node][1])
                    node //= 2
                best += x * x
            put(-2 * (x + ideal), best + (x + ideal) ** 2)
        return best
