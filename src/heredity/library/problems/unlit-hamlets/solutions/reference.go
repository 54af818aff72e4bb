func unlit(count int, tracks [][]int, lamps []int) int {
	near := make([][]int, count)
	for _, t := range tracks {
		near[t[0]] = append(near[t[0]], t[1])
		near[t[1]] = append(near[t[1]], t[0])
	}
	lit := make([]bool, count)
	order := []int{}
	for _, lamp := range lamps {
		if !lit[lamp] {
			lit[lamp] = true
			order = append(order, lamp)
		}
	}
	for i := 0; i < len(order); i++ {
		for _, b := range near[order[i]] {
			if !lit[b] {
				lit[b] = true
				order = append(order, b)
			}
		}
	}
	return count - len(order)
}
