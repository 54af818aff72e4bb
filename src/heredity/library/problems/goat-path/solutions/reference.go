import "sort"

func longest(heights [][]int, leap int) int {
	rows, columns := len(heights), len(heights[0])
	order := make([]int, rows*columns)
	for rock := range order {
		order[rock] = rock
	}
	height := func(rock int) int { return heights[rock/columns][rock%columns] }
	sort.Slice(order, func(i, j int) bool { return height(order[i]) < height(order[j]) })
	stands := make([]int, rows*columns)
	most := 0
	for _, rock := range order {
		best := 0
		from := func(near int) {
			if rise := height(rock) - height(near); rise > 0 && rise <= leap {
				best = max(best, stands[near])
			}
		}
		if rock%columns > 0 {
			from(rock - 1)
		}
		if (rock+1)%columns > 0 {
			from(rock + 1)
		}
		if rock >= columns {
			from(rock - columns)
		}
		if rock+columns < len(order) {
			from(rock + columns)
		}
		stands[rock] = best + 1
		most = max(most, best+1)
	}
	return most
}
