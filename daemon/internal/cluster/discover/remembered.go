package discover

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"time"

	"fulmen/daemon/api"
)

// The bounds of what is remembered.
const (
	// rememberFor is how long a network counts after a member was met there.
	rememberFor = 90 * 24 * time.Hour
	// mostNetworks is how many are remembered; those met longest ago go first.
	mostNetworks = 64
	// freshFor is how long a meeting need not be written down again.
	freshFor = 24 * time.Hour
)

// Remembered is what is kept over a restart: on which networks members were met,
// in a form that does not say which they are.
type Remembered struct {
	// Salt is random, 16 bytes in hexadecimal, and makes the fingerprints this
	// node's own.
	Salt string `json:"salt"`
	// Networks are the fingerprints, with when a member was met there last.
	Networks map[string]api.Time `json:"networks"`
}

// Store keeps what is remembered.
type Store interface {
	// LoadDiscovery gives what was saved last; the zero value if nothing was.
	LoadDiscovery() (Remembered, error)
	// SaveDiscovery keeps it.
	SaveDiscovery(Remembered) error
}

func (r Remembered) clone() Remembered {
	r.Networks = maps.Clone(r.Networks)
	return r
}

// fingerprint names the network of an interface: a keyed hash of what the
// interface is and of its private networks. The system tells neither the name
// nor the router of a network, and public IPv6 networks change, so two homes that
// both use 192.168.1.0/24 over Wi-Fi look alike; what is then announced can be
// told by members only. Empty where there is nothing to go by, as with nothing
// but link-local addresses.
func (r Remembered) fingerprint(kind api.InterfaceType, networks []string) string {
	if len(networks) == 0 || r.Salt == "" {
		return ""
	}
	mac := hmac.New(sha256.New, []byte("fulmen-network-1"+r.Salt))
	mac.Write([]byte(kind))
	for _, network := range slices.Compact(slices.Sorted(slices.Values(networks))) {
		mac.Write([]byte("|" + network))
	}
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// meet notes that a member was met, and reports whether that is worth to be
// written down.
func (r *Remembered) meet(fingerprint string, now time.Time) bool {
	if fingerprint == "" {
		return false
	}
	if last, known := r.Networks[fingerprint]; known && now.Sub(last.Time) < freshFor && !now.Before(last.Time) {
		return false
	}
	r.Networks = maps.Clone(r.Networks)
	if r.Networks == nil {
		r.Networks = map[string]api.Time{}
	}
	r.Networks[fingerprint] = api.Time{Time: now}
	for len(r.Networks) > mostNetworks {
		delete(r.Networks, slices.MinFunc(slices.Collect(maps.Keys(r.Networks)), func(a, b string) int {
			return r.Networks[a].Compare(r.Networks[b].Time)
		}))
	}
	return true
}

// knows reports whether a member was met there, and not too long ago.
func (r Remembered) knows(fingerprint string, now time.Time) bool {
	last, known := r.Networks[fingerprint]
	return known && now.Sub(last.Time) < rememberFor
}
