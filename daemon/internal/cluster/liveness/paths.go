package liveness

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"fulmen/daemon/api"
)

const (
	// maxPaths is how many ways to a node are shown, and maxLast how many of
	// them a sentence names.
	maxPaths = 8
	maxLast  = 3
	// together is how far apart paths fail for one cause, such as a Mac that
	// went away: what failed longer before was not among the last.
	together = time.Minute
)

// pathsOf are the ways to a node, the best first, then those that failed, the
// latest first; and those by which it was reached last, in words.
func pathsOf(now []api.PathView, reach []api.Reach, node api.NodeID) ([]api.PathView, string) {
	failedAt := map[api.PeerAddress]time.Time{}
	paths := slices.Clone(now)
	known := map[api.PeerAddress]api.Reach{}
	for _, r := range reach {
		if r.Peer != node {
			continue
		}
		at := api.PeerAddress{Peer: node, Address: r.Address}
		known[at] = r
		failedAt[at] = r.FailedAt.Time
		if !slices.ContainsFunc(now, func(p api.PathView) bool { return p.Address == at }) && r.State == api.PathFailed {
			paths = append(paths, api.PathView{Address: at, Interface: r.Interface, State: api.PathFailed})
		}
	}
	for i := range paths {
		paths[i].Kind = cmp.Or(paths[i].Kind, known[paths[i].Address].Kind, api.LinkUnknown)
	}
	slices.SortStableFunc(paths, func(a, b api.PathView) int {
		if c := cmp.Compare(isFailed(a), isFailed(b)); c != 0 || isFailed(a) == 0 {
			return c // the transport's own order stays
		}
		return cmp.Or(failedAt[b.Address].Compare(failedAt[a.Address]), a.Address.Compare(b.Address))
	})
	paths = paths[:min(len(paths), maxPaths)]
	return paths, lastOf(paths, failedAt)
}

func isFailed(p api.PathView) int {
	if p.State == api.PathFailed {
		return 1
	}
	return 0
}

// lastOf names the paths that failed last, or have not failed yet.
func lastOf(paths []api.PathView, failedAt map[api.PeerAddress]time.Time) string {
	var latest time.Time
	for _, p := range paths {
		if at := failedAt[p.Address]; isFailed(p) == 1 && at.After(latest) {
			latest = at
		}
	}
	var words []string
	for _, p := range paths {
		if at := failedAt[p.Address]; isFailed(p) == 1 && !at.IsZero() && latest.Sub(at) > together {
			continue
		}
		word := kindName(p.Kind)
		if p.Interface != "" {
			word += " (" + p.Interface + ")"
		}
		if len(words) < maxLast && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// kindName is what a path is made of, for a sentence.
func kindName(k api.LinkKind) string {
	switch k {
	case api.LinkWiFi:
		return "Wi-Fi"
	case api.LinkEthernet:
		return "Ethernet"
	case api.LinkTB3, api.LinkTB4, api.LinkTB5, api.LinkRDMA:
		return "Thunderbolt"
	case api.LinkVPN:
		return "VPN"
	}
	return "a network"
}
