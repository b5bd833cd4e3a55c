// Package machine tells what MLX finds on this machine, in the words of the
// worker's protocol, and sees to it that MLX on a Linux CPU calls a fast BLAS.
package machine
