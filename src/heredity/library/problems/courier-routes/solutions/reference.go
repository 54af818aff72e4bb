import "container/heap"

type item struct{ time, town int }
type queue []item

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].time < q[j].time }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(item)) }
func (q *queue) Pop() any {
	old := *q
	last := old[len(old)-1]
	*q = old[:len(old)-1]
	return last
}

func latestArrival(towns int, roads [][]int, start int) int {
	leaving := make([][]item, towns)
	for _, road := range roads {
		leaving[road[0]] = append(leaving[road[0]], item{road[2], road[1]})
	}
	done := make([]bool, towns)
	waiting := &queue{{0, start}}
	reached, last := 0, 0
	for waiting.Len() > 0 {
		next := heap.Pop(waiting).(item)
		if done[next.town] {
			continue
		}
		done[next.town] = true
		last = next.time
		reached++
		for _, road := range leaving[next.town] {
			if !done[road.town] {
				heap.Push(waiting, item{next.time + road.time, road.town})
			}
		}
	}
	if reached < towns {
		return -1
	}
	return last
}
