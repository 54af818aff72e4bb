func seated(count int, wishes []int) []int {
	after := make([]int, count+1)
	for i := range after {
		after[i] = i
	}
	answer := []int{}
	for _, seat := range wishes {
		for round := 0; round < 2; round++ {
			for after[seat] != seat {
				after[seat] = after[after[seat]]
				seat = after[seat]
			}
			if seat < count {
				break
			}
			seat = 0
		}
		answer = append(answer, seat)
		after[seat] = seat + 1
	}
	return answer
}
