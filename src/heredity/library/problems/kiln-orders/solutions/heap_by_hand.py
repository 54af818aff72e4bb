class Solution:
    def fired(self, orders):
        heap, total = [0], 0
        for hours, due in sorted(orders, key=lambda order: order[1]):
            heap.append(hours)
            total += hours
            node = len(heap) - 1
            while node > 1 and heap[node // 2] < heap[node]:
                heap[node], heap[node // 2] = heap[node // 2], heap[node]
                node //= 2
            if total > due:
                total -= heap[1]
                last = heap.pop()
                if len(heap) > 1:
                    node = 1
                    while True:
                        child = 2 * node
                        if child >= len(heap):
                            break
                        if child + 1 < len(heap) and heap[child + 1] > heap[child]:
                            child += 1
                        if heap[child] <= last:
                            break
                        heap[node] = heap[child]
                        node = child
                    heap[node] = last
        return [len(heap) - 1, total]
