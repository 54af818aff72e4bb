func leastCost(pay [][]int, quarrel [][]int) int {
	n := len(pay)
	best := make([][]int, 1<<n)
	size := make([]int, 1<<n)
	for used := range best {
		size[used] = size[used>>1] + used&1
		best[used] = make([]int, n)
		for i := range best[used] {
			best[used][i] = 1 << 60
		}
	}
	for i := range pay {
		best[1<<i][i] = pay[i][0]
	}
	for used := 1; used < 1<<n; used++ {
		for i := 0; i < n; i++ {
			for j := 0; j < n; j++ {
				if used>>i&1 == 1 && used>>j&1 == 0 {
					next := used | 1<<j
					best[next][j] = min(best[next][j], best[used][i]+pay[j][size[used]]+quarrel[i][j])
				}
			}
		}
	}
	least := 1 << 60
	for _, cost := range best[1<<n-1] {
		least = min(least, cost)
	}
	return least
}
