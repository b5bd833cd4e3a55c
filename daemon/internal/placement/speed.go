package placement

import (
	"slices"

	"fulmen/daemon/api"
)

// measuredCables are the speeds over RDMA, by cable: the newest result where
// both ends measured.
func measuredCables(rows []api.LinkRow) map[api.LinkID]speed {
	newest := map[api.LinkID]*api.LinkRow{}
	for i := range rows {
		r := &rows[i]
		if r.Transport != api.TransportRDMA || !r.Link.Valid() || !counts(r) {
			continue
		}
		if old := newest[r.Link]; old == nil || newer(r, old) {
			newest[r.Link] = r
		}
	}
	out := make(map[api.LinkID]speed, len(newest))
	for link, r := range newest {
		out[link] = speedOf(r)
	}
	return out
}

// measuredPaths are the speeds over sockets, by the row's key.
func measuredPaths(rows []api.LinkRow) map[api.LinkRowKey]*api.LinkRow {
	out := map[api.LinkRowKey]*api.LinkRow{}
	for i := range rows {
		if r := &rows[i]; r.Transport == api.TransportSocket && counts(r) {
			out[r.LinkRowKey] = r
		}
	}
	return out
}

// counts reports whether a row has a speed that still says something: one of a
// cable that negotiated anew does not, an old one does.
func counts(r *api.LinkRow) bool {
	return (r.UpBitsPerS != nil || r.DownBitsPerS != nil) && !slices.Contains(r.Reasons, api.ReasonLinkChanged)
}

// newer reports whether a was measured after b; of two at once the lower key counts.
func newer(a, b *api.LinkRow) bool {
	if c := a.MeasuredAt.Compare(b.MeasuredAt.Time); c != 0 {
		return c > 0
	}
	if a.From != b.From {
		return a.From < b.From
	}
	return a.Name < b.Name
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
