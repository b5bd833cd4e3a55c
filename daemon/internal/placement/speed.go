package placement

import (
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
	s := speed{measured: true, source: api.Key{Node: r.From, Kind: api.KindLinkProfile, Name: r.Name}}
	switch {
	case r.UpBitsPerS == nil:
		s.bits = *r.DownBitsPerS
	case r.DownBitsPerS == nil:
		s.bits = *r.UpBitsPerS
	default:
		s.bits = min(*r.UpBitsPerS, *r.DownBitsPerS)
	}
	if r.RTTUS != nil {
		s.rtt = *r.RTTUS
	}
	return s
}
