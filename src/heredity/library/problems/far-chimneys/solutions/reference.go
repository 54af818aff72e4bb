func longestWalk(chimneys [][]int) int {
	best, far := 0, 1<<40
	for sign := -1; sign <= 1; sign += 2 {
		most, least := []int{-far, -far}, []int{far, far}
		for _, one := range chimneys {
			sum, owner := one[0]+sign*one[1], one[2]
			most[owner] = max(most[owner], sum)
			least[owner] = min(least[owner], sum)
		}
		best = max(best, most[0]-least[1], most[1]-least[0])
	}
	return best
}
