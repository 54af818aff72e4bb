class Solution:
    def pairs(self, signals, limit):
        # Nodes are [child 0, child 1, number].
        root, total = [None, None, 0], 0
        tops = {}
        for signal in signals:
            tops[signal] = tops.get(signal, 0) + 1
        for signal, times in tops.items():
            node = root
            for bit in range(16, -1, -1):
                side = signal >> bit & 1
                if node[side] is None:
                    node[side] = [None, None, 0]
                node = node[side]
                node[2] += times
        for signal, times in tops.items():
            node, found = root, 0
            for bit in range(16, -1, -1):
                side = signal >> bit & 1
                if limit >> bit & 1:
                    if node[side]:
                        found += node[side][2]
                    node = node[1 - side]
                else:
                    node = node[side]
                if node is None:
                    break
            total += times * found
        return (total - (len(signals) if limit else 0)) // 2
