func spareGloves(tags []int) []int {
	both, one := 0, 0
	for _, tag := range tags {
		both ^= tag
	}
	bit := both & -both
	for _, tag := range tags {
		if tag&bit != 0 {
			one ^= tag
		}
	}
	other := one ^ both
	if one > other {
		one, other = other, one
	}
	return []int{one, other}
}
