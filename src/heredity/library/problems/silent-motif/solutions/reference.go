const p = 1000000007

func times(a, b []int) []int {
	product := make([]int, len(a)+len(b)-1)
	for i, one := range a {
		for j, other := range b {
			product[i+j] = (product[i+j] + one*other) % p
		}
	}
	return product
}

func everySecond(values []int, from int) []int {
	kept := []int{}
	for i := from; i < len(values); i += 2 {
		kept = append(kept, values[i])
	}
	return kept
}

func peals(bells int, motif []int, strokes int) int {
	size := len(motif)
	above, below := make([]int, size), make([]int, size+1)
	for k := range motif {
		fits := true
		for i := k; i < size; i++ {
			fits = fits && motif[i] == motif[i-k]
		}
		if fits {
			above[k] = 1
			below[k] = (below[k] + 1) % p
			below[k+1] = p - bells
		}
	}
	below[size] = (below[size] + 1) % p
	for ; strokes > 0; strokes /= 2 {
		mirrored := make([]int, len(below))
		for k, value := range below {
			mirrored[k] = value
			if k%2 == 1 {
				mirrored[k] = (p - value) % p
			}
		}
		above = everySecond(times(above, mirrored), strokes%2)
		below = everySecond(times(below, mirrored), 0)
	}
	if len(above) == 0 {
		return 0
	}
	answer, base := above[0], below[0]
	for power := p - 2; power > 0; power /= 2 {
		if power%2 == 1 {
			answer = answer * base % p
		}
		base = base * base % p
	}
	return answer
}
