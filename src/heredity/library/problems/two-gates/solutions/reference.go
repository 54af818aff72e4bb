func twoGates(tolls []int, purse int) []int {
	places := map[int][]int{}
	for i := len(tolls) - 1; i >= 0; i-- {
		places[tolls[i]] = append(places[tolls[i]], i)
	}
	for i, toll := range tolls {
		own := places[toll]
		places[toll] = own[:len(own)-1]
		if others := places[purse-toll]; len(others) > 0 {
			return []int{i, others[len(others)-1]}
		}
	}
	return []int{-1, -1}
}
