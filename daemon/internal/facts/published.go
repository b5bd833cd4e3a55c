package facts

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
)

// Published reads back what this node has published of itself.
type Published struct{ Ledger *ledger.Ledger }

// read decodes the document of a kind that there is one of; what is not there is zero.
func (p Published) read(kind api.Kind, value any) {
	if record, found := p.Ledger.Get(api.Key{Node: p.Ledger.Node(), Kind: kind}); found {
		_ = record.Decode(value) // what cannot be read is not known
	}
}

// Identity is who this node is.
func (p Published) Identity() (identity api.Identity) {
	p.read(api.KindIdentity, &identity)
	return identity
}

// System is what this node runs.
func (p Published) System() (osBuild, mlx string) {
	identity := p.Identity()
	return identity.OSBuild, identity.MLXVersion
}

// InterfaceOf is this node's interface that has an address.
func (p Published) InterfaceOf(sink netip.Addr) (iface string, ok bool) {
	var network api.Network
	p.read(api.KindNetwork, &network)
	for _, i := range network.Interfaces {
		if slices.ContainsFunc(i.Addresses, func(a api.InterfaceAddress) bool { return a.Address.Addr().WithZone("") == sink.WithZone("") }) {
			return i.Name, true
		}
	}
	return "", false
}

// bootWithin bounds the reading of the id of the system's start.
const bootWithin = 2 * time.Second

// BootID is the id of the system's start; empty where it is not known.
func BootID(ctx context.Context, clock native.Clock, machine native.Facts) string {
	ctx, cancel := native.WithTimeout(ctx, clock, bootWithin, "the id of the system's start")
	defer cancel()
	snapshot, err := machine.Snapshot(ctx, native.AreaIdentity)
	if err != nil || snapshot.Identity == nil {
		return ""
	}
	return snapshot.Identity.BootID
}
