func longestBoard(logs []int, saw int, boards int) int {
	low, high := 0, 1000000000
	for low < high {
		middle, count := (low+high+1)/2, 0
		for _, log := range logs {
			count += (log + saw) / (middle + saw)
		}
		if count >= boards {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low
}
