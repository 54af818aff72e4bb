func fewestCuts(ribbons []int) int {
	piece, cuts := 0, 0
	for _, ribbon := range ribbons {
		for ribbon != 0 {
			piece, ribbon = ribbon, piece%ribbon
		}
	}
	for _, ribbon := range ribbons {
		cuts += ribbon/piece - 1
	}
	return cuts
}
