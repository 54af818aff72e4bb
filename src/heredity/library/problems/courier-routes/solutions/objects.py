from heapq import heappop, heappush


class Town:
    def __init__(self):
        self.roads, self.time = [], None


class Message:
    def __init__(self, time, town):
        self.time, self.town = time, town

    def __lt__(self, other):
        return self.time < other.time


class Solution:
    def latestArrival(self, towns, roads, start):
        places = [Town() for _ in range(towns)]
        for a, b, hours in roads:
            places[a].roads.append((places[b], hours))
        waiting, reached, last = [Message(0, places[start])], 0, 0
        while waiting:
            message = heappop(waiting)
            town = message.town
            if town.time is None:
                town.time = last = message.time
                reached += 1
                for other, hours in town.roads:
                    if other.time is None:
                        heappush(waiting, Message(last + hours, other))
        return last if reached == towns else -1
