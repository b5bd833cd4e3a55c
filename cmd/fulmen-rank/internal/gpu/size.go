package gpu

import "time"

const (
	// The sides of matrices that are tried, and how long one product should
	// take. On an M3 Ultra at 23.6 TFLOPS, 8192 takes 47 ms in float16.
	minSide, maxSide = 256, 8192
	productTarget    = 60 * time.Millisecond

	// The sizes of the buffer that is summed, and how long one sum may take.
	minBuffer, maxBuffer = 256 << 20, 2 << 30
	sumTarget            = 300 * time.Millisecond
)

// limits are a device's bounds in bytes; 0 is unknown, and bounds nothing.
type limits struct {
	buffer, memory uint64
}

// fits reports whether count buffers of size bytes are within the limits. Half
// of the memory is left to everybody else.
func (l limits) fits(size uint64, count uint64) bool {
	return (l.buffer == 0 || size <= l.buffer) && (l.memory == 0 || size*count <= l.memory/2)
}

// nextSide tells whether a product with twice the side is worth trying, when
// one with this side took took.
func nextSide(side int, took time.Duration, itemBytes uint64, l limits) bool {
	double := uint64(2 * side)
	return 2*side <= maxSide && 8*took <= 2*productTarget && l.fits(double*double*itemBytes, 3)
}

// bufferBytes is the size of the buffer to sum, when a sum over probe bytes
// took took: a power of two. The smallest is asked for even where it is slow,
// but not where it does not fit; then 0.
func bufferBytes(probe uint64, took time.Duration, l limits) uint64 {
	size := uint64(maxBuffer)
	for size > minBuffer && (!l.fits(size, 1) || time.Duration(float64(took)*float64(size)/float64(probe)) > sumTarget) {
		size /= 2
	}
	if !l.fits(size, 1) {
		return 0
	}
	return size
}
