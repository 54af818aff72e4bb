func lie(count int, sayings [][]int) int {
	above := make([]int, 2*count)
	for i := range above {
		above[i] = i
	}
	find := func(x int) int {
		for above[x] != x {
			above[x] = above[above[x]]
			x = above[x]
		}
		return x
	}
	for i, saying := range sayings {
		a, b, turn := saying[0], saying[1], saying[2]*count
		above[find(a)] = find((b + turn) % (2 * count))
		above[find(a+count)] = find((b + count + turn) % (2 * count))
		if find(a) == find(a+count) {
			return i
		}
	}
	return -1
}
