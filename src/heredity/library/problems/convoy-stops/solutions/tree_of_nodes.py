class Solution:
    def leastTrouble(self, crates, ideal):
        top = 1 << sum(crates).bit_length()
        root = weight = best = 0
        nodes = [[-2 * ideal, ideal * ideal, 0, 0]]
        for crate in crates:
            weight += crate
            low, high, node, best = 0, top, root, 1 << 90
            while True:
                m, b, left, right = nodes[node]
                best = min(best, m * weight + b)
                middle = (low + high) // 2
                node, low, high = (left, low, middle) if weight < middle else (right, middle, high)
                if not node:
                    break
            best += weight * weight
            m, b = -2 * (weight + ideal), best + (weight + ideal) ** 2
            low, high, node = 0, top, root
            while True:
                one, middle = nodes[node], (low + high) // 2
                if m * middle + b < one[0] * middle + one[1]:
                    m, b, one[0], one[1] = one[0], one[1], m, b
                if high - low == 1 or m == one[0]:
                    break
                side = 2 if m > one[0] else 3
                low, high = (low, middle) if side == 2 else (middle, high)
                if not one[side]:
                    one[side] = len(nodes)
                    nodes.append([m, b, 0, 0])
                    break
                node = one[side]
        return best
