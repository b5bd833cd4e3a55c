package placement

import (
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/topology"
)

// measuredPaths are the speeds over sockets, by the row's key.
func measuredPaths(rows []api.LinkRow) map[api.LinkRowKey]*api.LinkRow {
	out := map[api.LinkRowKey]*api.LinkRow{}
	for i := range rows {
		if r := &rows[i]; r.Transport == api.TransportSocket && topology.HasSpeed(r) {
			out[r.LinkRowKey] = r
		}
	}
	return out
}

// speedOf is a row's slower direction.
func speedOf(r *api.LinkRow) speed {
	s := speed{measured: true, together: r.Together, source: api.Key{Node: r.From, Kind: api.KindLinkProfile, Name: r.Name}}
	s.bits = topology.Slower(r.UpBitsPerS, r.DownBitsPerS)
	if r.RTTUS != nil {
		s.rtt = *r.RTTUS
	}
	return s
}

// together is what all of some channels of a pair were measured to give at once; 0 where
// they were not, or one of them is another by now.
func together(all []channel) int64 {
	for _, c := range all {
		t := c.together
		if t == nil || len(t.Sinks) != len(all) || len(t.Sources) != len(all) {
			continue
		}
		isOf := func(c channel) bool {
			return c.measured && (slices.Contains(t.Sources, c.addresses[0]) && slices.Contains(t.Sinks, c.addresses[1]) ||
				slices.Contains(t.Sources, c.addresses[1]) && slices.Contains(t.Sinks, c.addresses[0]))
		}
		if !slices.ContainsFunc(all, func(c channel) bool { return !isOf(c) }) {
			return topology.Slower(t.UpBitsPerS, t.DownBitsPerS)
		}
	}
	return 0
}
