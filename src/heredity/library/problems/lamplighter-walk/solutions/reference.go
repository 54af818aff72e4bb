type way struct{ square, number int }

func walk(squares int, lanes [][]int) []int {
	leaving := make([][]way, squares)
	for number, lane := range lanes {
		a, b := lane[0], lane[1]
		leaving[a] = append(leaving[a], way{b, number})
		leaving[b] = append(leaving[b], way{a, number})
	}
	start, odd := lanes[0][0], 0
	for square, ways := range leaving {
		if len(ways)%2 == 1 {
			start = square
			odd++
		}
	}
	if odd > 2 {
		return []int{}
	}
	walked := make([]bool, len(lanes))
	trail, tour := []int{start}, []int{}
	for len(trail) > 0 {
		here := trail[len(trail)-1]
		ways := leaving[here]
		for len(ways) > 0 && walked[ways[len(ways)-1].number] {
			ways = ways[:len(ways)-1]
		}
		if len(ways) == 0 {
			tour = append(tour, here)
			trail = trail[:len(trail)-1]
		} else {
			next := ways[len(ways)-1]
			ways = ways[:len(ways)-1]
			walked[next.number] = true
			trail = append(trail, next.square)
		}
		leaving[here] = ways
	}
	if len(tour) != len(lanes)+1 {
		return []int{}
	}
	return tour
}
