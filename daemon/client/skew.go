package client

import (
	"strings"

	"golang.org/x/mod/semver"

	"fulmen/daemon/api"
)

// skew compares versions such as 1.2.3 or v1.2.3-rc1 by their numbers; what has none,
// as a development build, is equal to everything.
func skew(mine, daemons string) api.Reason {
	own, other := release(mine), release(daemons)
	switch {
	case own == "" || other == "":
		return ""
	case semver.Compare(other, own) < 0:
		return api.ReasonDaemonOlderThanApp
	case semver.Compare(other, own) > 0:
		return api.ReasonDaemonNewerThanApp
	}
	return ""
}

// release is the numbers of a version, in the form that semver compares.
func release(version string) string {
	numbers, _, _ := strings.Cut(semver.Canonical("v"+strings.TrimPrefix(version, "v")), "-")
	return numbers
}
