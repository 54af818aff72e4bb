class Tower:
    def __init__(self, number):
        self.number, self.listeners, self.hop = number, [], None


class Solution:
    def heard(self, count, calls, sources, hops):
        towers = [Tower(number) for number in range(count)]
        for a, b in calls:
            towers[a].listeners.append(towers[b])
        order = [towers[a] for a in set(sources)]
        for tower in order:
            tower.hop = 0
        for tower in order:
            for other in tower.listeners:
                if other.hop is None:
                    other.hop = tower.hop + 1
                    order.append(other)
        return [tower.number for tower in towers if tower.hop == hops]
