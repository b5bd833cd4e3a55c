package blas

// Prefer does nothing on a Mac, where MLX calls Accelerate.
func Prefer() error { return nil }
