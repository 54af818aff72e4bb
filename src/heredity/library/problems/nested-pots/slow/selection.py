class Solution:
    def fewestPiles(self, sizes, gap):
        left, order = list(sizes), []
        while left:
            smallest = min(left)
            left.remove(smallest)
            order.append(smallest)
        inside = 0
        for size in order[(len(order) + 1) // 2 :]:
            inside += order[inside] + gap <= size
        return len(order) - inside
