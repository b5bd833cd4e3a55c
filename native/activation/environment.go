package activation

import (
	"fmt"
	"strconv"
	"strings"
)

// What sd_listen_fds(3) says: the variables, and the first descriptor.
const (
	envPID          = "LISTEN_PID"
	envCount        = "LISTEN_FDS"
	envNames        = "LISTEN_FDNAMES"
	firstDescriptor = 3
)

// mostDescriptors bounds what is believed; nobody hands over more than a few.
const mostDescriptors = 64

// fromEnvironment gives the names of the descriptors that were handed over, in their
// order, the first of which is firstDescriptor. Variables that are meant for another
// process count for nothing.
func fromEnvironment(getenv func(string) string, pid int) ([]string, error) {
	count := getenv(envCount)
	if getenv(envPID) != strconv.Itoa(pid) || count == "" {
		return nil, nil
	}
	n, err := strconv.Atoi(count)
	if err != nil || n < 0 || n > mostDescriptors {
		return nil, fmt.Errorf("%s is %q, which is not a number from 0 to %d", envCount, count, mostDescriptors)
	}
	names := make([]string, n)
	given := strings.Split(getenv(envNames), ":")
	for i := range names {
		names[i] = "handed-" + strconv.Itoa(firstDescriptor+i)
		if i < len(given) && given[i] != "" {
			names[i] = given[i]
		}
	}
	return names, nil
}
