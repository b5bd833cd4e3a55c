package linux

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

// cpuTimes is what /proc/stat counts since the start, over all processors, in
// ticks of the kernel.
type cpuTimes struct {
	busy, total uint64
	bootedAt    int64 // seconds since 1970; 0 is unknown
}

// parseStat reads /proc/stat. Without a whole line "cpu" the times are zero.
func parseStat(data []byte) cpuTimes {
	var times cpuTimes
	for line := range bytes.Lines(data) {
		fields := strings.Fields(string(line))
		if len(fields) < 2 {
			continue
		}
		switch fields[0] {
		case "cpu":
			times.busy, times.total = parseTicks(fields[1:])
		case "btime":
			times.bootedAt, _ = strconv.ParseInt(fields[1], 10, 64)
		}
	}
	return times
}

// parseTicks adds up user, nice, system, idle, iowait, irq, softirq and steal.
// The guests' times behind them are already in user and nice. Stolen time went
// to other machines: it passed, and this one was neither busy nor idle.
func parseTicks(fields []string) (busy, total uint64) {
	const idle, iowait, steal, last = 3, 4, 7, 8
	if len(fields) <= idle {
		return 0, 0
	}
	for i, field := range fields[:min(len(fields), last)] {
		n, err := strconv.ParseUint(field, 10, 64)
		if err != nil || n > math.MaxUint64-total {
			return 0, 0
		}
		total += n
		if i != idle && i != iowait && i != steal {
			busy += n
		}
	}
	return busy, total
}
