package machine

// PreferBLAS does nothing on a Mac, where MLX calls Accelerate.
func PreferBLAS() error { return nil }
