func lit(lamps int, wishes [][]int) []bool {
	size := 2*lamps + 1
	then := make([][]int, size)
	for _, two := range wishes {
		a, b := two[0], two[1]
		then[lamps-a] = append(then[lamps-a], lamps+b)
		then[lamps-b] = append(then[lamps-b], lamps+a)
	}
	number, low, group := make([]int, size), make([]int, size), make([]int, size)
	pending := []int{}
	count, groups := 0, 0
	var visit func(here int)
	visit = func(here int) {
		count++
		number[here], low[here] = count, count
		pending = append(pending, here)
		for _, there := range then[here] {
			if number[there] == 0 {
				visit(there)
				low[here] = min(low[here], low[there])
			} else if group[there] == 0 {
				low[here] = min(low[here], number[there])
			}
		}
		if low[here] == number[here] {
			groups++
			for group[here] == 0 {
				last := len(pending) - 1
				group[pending[last]] = groups
				pending = pending[:last]
			}
		}
	}
	for root := range then {
		if root != lamps && number[root] == 0 {
			visit(root)
		}
	}
	light := make([]bool, lamps)
	for lamp := 1; lamp <= lamps; lamp++ {
		if group[lamps+lamp] == group[lamps-lamp] {
			return []bool{}
		}
		light[lamp-1] = group[lamps+lamp] < group[lamps-lamp]
	}
	return light
}
