func winningMoves(baskets []int, most int) int {
	size, whole, moves := most+1, 0, 0
	for _, basket := range baskets {
		whole ^= basket % size
	}
	if whole == 0 {
		return 0
	}
	for _, basket := range baskets {
		here := basket % size
		goal := here ^ whole
		if goal < here || goal <= most && here+size-goal <= basket {
			moves++
		}
	}
	return moves
}
