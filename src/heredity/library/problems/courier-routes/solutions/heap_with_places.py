class Solution:
    def latestArrival(self, towns, roads, start):
        leaving = [[] for _ in range(towns)]
        for a, b, hours in roads:
            leaving[a].append((b, hours))
        # Every town is in the heap once, and moves up when its time gets better.
        time, heap, place = [1 << 60] * towns, [start], [-1] * towns
        time[start], place[start] = 0, 0
        done = last = 0
        while heap:
            town, end = heap[0], heap.pop()
            last, done = time[town], done + 1
            if heap:
                node, size, key = 0, len(heap), time[end]
                while 2 * node + 1 < size:
                    child = 2 * node + 1
                    if child + 1 < size and time[heap[child + 1]] < time[heap[child]]:
                        child += 1
                    if time[heap[child]] >= key:
                        break
                    heap[node] = heap[child]
                    place[heap[node]] = node
                    node = child
                heap[node], place[end] = end, node
            for other, hours in leaving[town]:
                key = last + hours
                if key < time[other]:
                    time[other], node = key, place[other]
                    if node < 0:
                        node = len(heap)
                        heap.append(other)
                    while node and time[heap[(node - 1) // 2]] > key:
                        heap[node] = heap[(node - 1) // 2]
                        place[heap[node]] = node
                        node = (node - 1) // 2
                    heap[node], place[other] = other, node
        return last if done == towns else -1
