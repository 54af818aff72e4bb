func smallestFerry(carts []int, trips int) int {
	low, high := 0, 0
	for _, cart := range carts {
		low = max(low, cart)
		high += cart
	}
	for low < high {
		middle := low + (high-low)/2
		needed, load := 1, 0
		for _, cart := range carts {
			load += cart
			if load > middle {
				needed++
				load = cart
			}
		}
		if needed <= trips {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}
