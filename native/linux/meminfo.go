package linux

import (
	"bytes"
	"strconv"
	"strings"
)

// parseMeminfo reads /proc/meminfo: lines "Name:
// number kB". The values are in bytes; what counts something else than kB, or
// makes no sense, is left out.
func parseMeminfo(data []byte) map[string]int64 {
	values := map[string]int64{}
	for line := range bytes.Lines(data) {
		name, rest, _ := strings.Cut(string(line), ":")
		fields := strings.Fields(rest)
		if len(fields) != 2 || fields[1] != "kB" {
			continue
		}
		n, err := strconv.ParseInt(fields[0], 10, 64)
		if err != nil {
			continue
		}
		// The kernel's kB are 1,024 bytes.
		if size, ok := scaled(n, 1024); ok {
			values[name] = size
		}
	}
	return values
}

// parseCounters reads lines "name number", as memory.stat of a control group.
func parseCounters(data []byte) map[string]int64 {
	values := map[string]int64{}
	for line := range bytes.Lines(data) {
		fields := strings.Fields(string(line))
		if len(fields) != 2 {
			continue
		}
		if n, err := strconv.ParseInt(fields[1], 10, 64); err == nil && n >= 0 {
			values[fields[0]] = n
		}
	}
	return values
}
