class Solution:
    def even(self, tree, guests):
        # Below each node: how many ways down have which rest, all shifted by one number.
        order = [tree] if tree else []
        for node in order:
            if node.left:
                order.append(node.left)
            if node.right:
                order.append(node.right)
        ways, count = {}, 0
        for node in reversed(order):
            table, shift = ways.pop(node.left, ({}, 0))
            other, more = ways.pop(node.right, ({}, 0))
            if len(other) > len(table):
                table, shift, other, more = other, more, table, shift
            for rest, number in other.items():
                rest = (rest + more - shift) % guests
                table[rest] = table.get(rest, 0) + number
            shift += node.val
            own = (node.val - shift) % guests
            table[own] = table.get(own, 0) + 1
            count += table.get(-shift % guests, 0)
            ways[node] = table, shift
        return count
