import "math"

func highestMean(levels []float64, hours int) float64 {
	sums := make([]float64, len(levels)+1)
	for i, level := range levels {
		sums[i+1] = sums[i] + level
	}
	best := math.Inf(-1)
	for i := hours; i < len(sums); i++ {
		best = max(best, sums[i]-sums[i-hours])
	}
	return best / float64(hours)
}
