class Solution:
    def brightest(self, tree):
        floors, floor = [], [tree] if tree else []
        while floor:
            floors.append(floor)
            floor = [child for node in floor for child in (node.left, node.right) if child]
        below = []
        for floor in reversed(floors):
            found, results = iter(below), []
            for node in floor:
                lit, free = node.val, 0
                for child in (node.left, node.right):
                    if child:
                        one = next(found)
                        lit += one[1]
                        free += max(one)
                results.append((lit, free))
            below = results
        return max(below[0]) if below else 0
