package rdmaprobe

import (
	"context"
	"slices"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
)

const (
	// showsWithin is how long documents may stay behind a change for RDMA that has
	// just been made, and showsAgain is between two looks.
	showsWithin = 2 * time.Second
	showsAgain  = 50 * time.Millisecond
)

// Shown is what this node's documents show of its RDMA devices.
type Shown struct {
	Ledger *ledger.Ledger
	Clock  native.Clock
	// Reread has the devices read and published again.
	Reread func()
	// IsChanging reports whether settings of an end are being changed now.
	IsChanging func(api.LinkEnd) bool
	// Refused says why devices that may be stuck cannot be used; empty where they can.
	Refused func(ctx context.Context, portNumbers []api.PortNumber) (why api.Reason, on string)
	// IsRehearsal says that MLX is not used.
	IsRehearsal bool
	Name        func(api.NodeID) string
}

// Ready is the RDMA device of an end of this node that a test can use now, or
// why there is none, as the documents have it.
func (s Shown) Ready(ctx context.Context, end api.LinkEnd) (device string, fault *api.Error) {
	reread := sync.OnceFunc(s.Reread)
	for late := s.Clock.Boot() + showsWithin; ; reread() {
		device, fault = s.now(ctx, end)
		if fault == nil || !mayShow(fault.Data.Reason) || s.Clock.Boot() > late || !native.Pause(ctx, s.Clock, showsAgain) {
			return device, fault
		}
	}
}

// mayShow reports whether what is missing may be there, and not published yet.
func mayShow(why api.Reason) bool {
	return why == api.ReasonRDMANoDevice || why == api.ReasonRDMAPortDown || why == api.ReasonRDMANoIPv4GID
}

// now is the same as it is published now.
func (s Shown) now(ctx context.Context, end api.LinkEnd) (device string, fault *api.Error) {
	where := s.Name(end.Node) + ":" + end.PortNumber.String()
	now, _ := ledger.Read[api.RDMA](s.Ledger, api.Key{Node: s.Ledger.Node(), Kind: api.KindRDMA, Name: end.PortNumber.String()})
	if end.Node != s.Ledger.Node() || now.Device == nil || now.Device.Name == "" {
		return "", api.Errorf(api.ReasonRDMANoDevice, end.String(), "%s shows no RDMA device.", where)
	}
	if s.IsChanging(end) {
		return "", api.Errorf(api.ReasonLinkBusy, end.String(), "RDMA is being changed at %s.", where)
	}
	if why, _ := s.Refused(ctx, []api.PortNumber{end.PortNumber}); why != "" {
		return "", api.Errorf(why, end.String(), "The RDMA device of %s cannot be used: a program that had it was killed.", where)
	}
	identity, _ := ledger.Read[api.Identity](s.Ledger, api.Key{Node: s.Ledger.Node(), Kind: api.KindIdentity})
	switch {
	case now.Device.PortState != "" && now.Device.PortState != api.RDMAPortActive:
		return "", api.Errorf(api.ReasonRDMAPortDown, end.String(), "The RDMA port of %s is %s, not active.", where, now.Device.PortState)
	case now.Device.GIDs != nil && !slices.ContainsFunc(now.Device.GIDs, func(g api.GID) bool { return g.Address.Is4In6() }):
		return "", api.NewError(api.ReasonRDMANoIPv4GID, end.String())
	case s.IsRehearsal:
	case identity.MLXBackends != nil && !slices.Contains(identity.MLXBackends, api.MLXBackendJACCL):
		return "", api.Errorf(api.ReasonJACCLMissing, string(end.Node), "MLX on %s has no JACCL.", s.Name(end.Node))
	}
	return now.Device.Name, nil
}
