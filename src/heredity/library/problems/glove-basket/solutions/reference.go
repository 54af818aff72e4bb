func lonely(gloves []int) int {
	left := map[int]int{}
	for _, glove := range gloves {
		if glove > 0 {
			left[glove]++
		} else {
			left[-glove]--
		}
	}
	alone := 0
	for _, more := range left {
		alone += max(more, -more)
	}
	return alone
}
