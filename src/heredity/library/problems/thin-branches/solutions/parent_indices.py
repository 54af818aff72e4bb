class Solution:
    def cut(self, tree, least):
        nodes, above = [tree] if tree else [], [None]
        for node in nodes:
            for side in ("left", "right"):
                if child := getattr(node, side):
                    nodes.append(child)
                    above.append((node, side))
        carried = {}
        for node, place in zip(reversed(nodes), reversed(above)):
            total = carried.pop(node, 0) + node.val
            if place is None:
                return tree if total >= least else None
            if total < least:
                setattr(*place, None)
            else:
                carried[place[0]] = carried.get(place[0], 0) + total
        return None
