func withView(houses []int, clear int) []int {
	seen := []int{}
	highest := -clear
	for i := len(houses) - 1; i >= 0; i-- {
		if houses[i] >= highest+clear {
			seen = append(seen, i)
		}
		highest = max(highest, houses[i])
	}
	for i, j := 0, len(seen)-1; i < j; i, j = i+1, j-1 {
		seen[i], seen[j] = seen[j], seen[i]
	}
	return seen
}
