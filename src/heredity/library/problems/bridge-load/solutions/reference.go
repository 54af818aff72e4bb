import "sort"

func heaviest(crossings [][]int) []int {
	change := map[int]int{}
	for _, c := range crossings {
		change[c[0]] += c[2]
		change[c[1]+1] -= c[2]
	}
	times := []int{}
	for time := range change {
		times = append(times, time)
	}
	sort.Ints(times)
	load, most, first := 0, 0, 0
	for _, time := range times {
		load += change[time]
		if load > most {
			most, first = load, time
		}
	}
	return []int{first, most}
}
