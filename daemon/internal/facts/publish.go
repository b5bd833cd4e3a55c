package facts

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
)

// read reads one area and publishes it.
func (o *Owner) read(ctx context.Context, area native.Area) {
	if o.learn(ctx, area) {
		o.publish(area)
	}
}

// learn reads one area. One that cannot be read keeps its documents, which then say
// so; the log has the cause. It reports false where the daemon ends.
func (o *Owner) learn(ctx context.Context, area native.Area) bool {
	within, cancel := context.WithTimeout(ctx, readDeadline)
	defer cancel()
	snapshot, err := o.platform.Snapshot(within, area)
	if ctx.Err() != nil {
		return false
	}
	why := o.known.silence(area, snapshot)
	if err != nil {
		why = api.ReasonReadFailed
	}
	if why != o.known.silent[area] {
		o.noteVoice(area, why, snapshot.Unknown[string(area)].Detail(), err)
	}
	o.known.take(area, snapshot, why)
	return true
}

// publish publishes what the reading of areas may have changed, in their order. A
// document that says nothing new is no news to anybody: the ledger sees to that.
func (o *Owner) publish(areas ...native.Area) {
	var kinds []api.Kind
	for _, area := range areas {
		for _, kind := range o.known.follow(area) {
			if !slices.Contains(kinds, kind) {
				kinds = append(kinds, kind)
			}
		}
	}
	for _, kind := range kinds {
		if err := o.publishKind(kind); err != nil {
			o.log.Error("facts could not be published", "kind", kind, "error", err)
		}
	}
	for _, area := range areas {
		o.noteHomeless(area)
	}
}

func (o *Owner) publishKind(kind api.Kind) error {
	o.mu.Lock()
	static := o.static
	o.mu.Unlock()
	var failed error
	names := []string{}
	for _, fact := range o.known.facts(kind, static) {
		names = append(names, fact.Name)
		failed = errors.Join(failed, o.documents.Put(kind, fact.Name, fact.Value, fact.Unknown))
	}
	for _, name := range o.published[kind] {
		if slices.Contains(names, name) {
			continue
		}
		if err := o.documents.Delete(kind, name); err != nil {
			failed = errors.Join(failed, err)
			names = append(names, name) // the next reading tries again
		}
	}
	o.published[kind] = names
	return failed
}

// noteVoice says in the log that a source fell silent, or speaks again. One that
// never spoke is no news.
func (o *Owner) noteVoice(area native.Area, why api.Reason, detail string, err error) {
	switch {
	case why == "":
		o.log.Info("a source speaks again", "area", area)
	case o.known.held.Has(area) || err != nil:
		o.log.Warn("a source has fallen silent; its documents stay", "area", area, "reason", why, "detail", detail, "error", err)
	default:
		o.log.Debug("an area is not told", "area", area, "reason", why, "detail", detail)
	}
}

// noteHomeless says in the log which RDMA devices belong to no receptacle, once
// whenever that changes.
func (o *Owner) noteHomeless(area native.Area) {
	if area != native.AreaRDMA && area != native.AreaThunderbolt {
		return
	}
	now := homeless(o.known.held.RDMA, o.known.held.Thunderbolt)
	if !slices.Equal(now, o.homeless) {
		o.homeless = now
		o.log.Info("RDMA devices without a Thunderbolt receptacle", "devices", now)
	}
}

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
