package placement

import (
	"strconv"

	"fulmen/daemon/api"
)

// MaxRejections bounds the rejected sets that a result names.
const MaxRejections = 16

// MaxRemedies bounds the remedies that a result names.
const MaxRemedies = 8

// hindrance is such a cause of what cannot be.
func hindrance(reason api.Reason, subject, format string, args ...any) *api.Cause {
	c := api.Errorf(reason, subject, format, args...).Cause()
	return &c
}

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// oneEach is why a backend of JACCL's has one rank a node.
const oneEach = "it takes one rank a node, which has the RDMA devices to itself"

// each is a number of ranks a node, in words.
func each(perNode int) string {
	if perNode == 1 {
		return "one"
	}
	return strconv.Itoa(perNode)
}

// gibibytes is a size for people, rounded down, so that it can be asked for.
func gibibytes(bytes int64) string {
	return trimmed(float64(bytes)/(1<<30)) + " GiB"
}

// gigabits is a speed for people, in 10^9 bits a second.
func gigabits(bitsPerS int64) string {
	return trimmed(float64(bitsPerS)/1e9) + " Gb/s"
}

// trimmed is a number with at most one decimal.
func trimmed(f float64) string {
	return strconv.FormatFloat(float64(int64(f*10))/10, 'f', -1, 64)
}

// pairSubject names a pair of nodes in a cause.
func pairSubject(a, b *Node) string { return string(a.ID) + "~" + string(b.ID) }
