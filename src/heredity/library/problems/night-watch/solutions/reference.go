import "sort"

func unwatched(watches [][]int) []int {
	sort.Slice(watches, func(i, j int) bool { return watches[i][0] < watches[j][0] })
	gap := []int{}
	best, last := 0, watches[0][1]
	for _, watch := range watches {
		if watch[0]-last > best {
			best = watch[0] - last
			gap = []int{last, watch[0]}
		}
		last = max(last, watch[1])
	}
	return gap
}
