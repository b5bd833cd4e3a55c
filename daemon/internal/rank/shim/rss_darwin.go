package shim

// rssBytes is ru_maxrss, which is in bytes here.
func rssBytes(maxrss int64) int64 { return maxrss }
