func least(text string) string {
	size, one, other, same := len(text), 0, 1, 0
	twice := text + text
	for one < size && other < size && same < size {
		a, b := twice[one+same], twice[other+same]
		if a == b {
			same++
			continue
		}
		if a > b {
			one += same + 1
		} else {
			other += same + 1
		}
		if one == other {
			other++
		}
		same = 0
	}
	begin := one
	if other < one {
		begin = other
	}
	return twice[begin : begin+size]
}

func read(ring string) string {
	letters := []byte(ring)
	for i, j := 0, len(letters)-1; i < j; i, j = i+1, j-1 {
		letters[i], letters[j] = letters[j], letters[i]
	}
	clockwise, back := least(ring), least(string(letters))
	if back < clockwise {
		return back
	}
	return clockwise
}
