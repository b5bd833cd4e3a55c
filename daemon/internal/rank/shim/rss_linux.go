package shim

// rssBytes turns ru_maxrss, which is in KiB here, into bytes.
func rssBytes(maxrss int64) int64 { return maxrss << 10 }
