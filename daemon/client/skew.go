package client

import (
	"cmp"
	"strconv"
	"strings"

	"fulmen/daemon/api"
)

// skew compares versions such as 1.2.3 or v1.2.3-rc1 by their numbers.
func skew(mine, daemons string) api.Reason {
	if mine == "" || daemons == "" {
		return ""
	}
	switch compareVersions(daemons, mine) {
	case -1:
		return api.ReasonDaemonOlderThanApp
	case +1:
		return api.ReasonDaemonNewerThanApp
	}
	return ""
}

// compareVersions orders by the numbers before a dash; what is no number, as
// in a development build, is equal to everything.
func compareVersions(a, b string) int {
	x, okX := numbers(a)
	y, okY := numbers(b)
	if !okX || !okY {
		return 0
	}
	for i := range max(len(x), len(y)) {
		if c := cmp.Compare(at(x, i), at(y, i)); c != 0 {
			return c
		}
	}
	return 0
}

func numbers(version string) ([]uint64, bool) {
	version, _, _ = strings.Cut(strings.TrimPrefix(version, "v"), "-")
	version, _, _ = strings.Cut(version, "+")
	var out []uint64
	for part := range strings.SplitSeq(version, ".") {
		n, err := strconv.ParseUint(part, 10, 64)
		if err != nil {
			return nil, false
		}
		out = append(out, n)
	}
	return out, true
}

func at(all []uint64, i int) uint64 {
	if i < len(all) {
		return all[i]
	}
	return 0
}
