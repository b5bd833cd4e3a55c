// Package gpu measures what one of MLX's devices gives: how fast it multiplies
// square matrices, and how fast it reads memory.
//
// Sizes suit the device: the product is as large as runs in about a tenth of a
// second, since small ones measure the launch; the buffer is 2 GiB where that
// fits the device and the time, and never smaller than well past the caches
// (96 MB on an M3 Ultra).
package gpu
