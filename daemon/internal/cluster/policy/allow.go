package policy

import (
	"fulmen/daemon/api"
)

// Circumstances is how this Mac is when a job is to run on it.
type Circumstances struct {
	// PowerSource is what it runs on; empty where that is not known.
	PowerSource api.PowerSource
	// UserIdleS is for how long nobody has used it, in seconds; nil where that is
	// not known.
	UserIdleS *float64
	// WantedBytes is the GPU memory that the job asks for, and HeldBytes what
	// jobs of others hold already.
	WantedBytes, HeldBytes int64
	// WorkingSetBytes is the GPU's working set, for jobs of others together where
	// the policy names no other bound; nil where it is not known.
	WorkingSetBytes *int64
}

// Allows decides whether a principal's job may run here now, and as which
// account. The reason is empty where it may; else it is not_a_member,
// jobs_not_shared, principal_unmapped, on_battery, not_idle, not_enough_memory,
// or account_forbidden where the account went away, or became root's, since it
// was mapped.
//
// This node's own people run as themselves unless the map has a line for them,
// and what is lent to others, and when, does not bind them. They never run as
// root or as the system either.
func (p *Policy) Allows(who api.Principal, now Circumstances) (account string, reason api.Reason) {
	p.mu.Lock()
	held := p.record
	p.mu.Unlock()
	if !p.isHere(who.Node) {
		return "", api.ReasonNotAMember
	}
	if who.Node != p.options.Node {
		if reason := Refuses(held.published(), who, now); reason != "" {
			return "", reason
		}
	}
	return p.account(held, who)
}

// MayRead decides whether a person may read models on this Mac, and whose: those of the
// account as which their jobs would run, or where the account is empty what is public. The
// reason is empty where they may; else it is not_a_member, models_not_shared,
// principal_unmapped or account_forbidden.
func (p *Policy) MayRead(who api.Principal) (account string, reason api.Reason) {
	p.mu.Lock()
	held := p.record
	p.mu.Unlock()
	switch {
	case !p.isHere(who.Node):
		return "", api.ReasonNotAMember
	case who.Node == p.options.Node:
	case held.Sharing.Models == api.ModelsMembers:
		if account, reason = p.account(held, who); reason == api.ReasonPrincipalUnmapped {
			return "", ""
		}
		return account, reason
	case held.Sharing.Models != api.ModelsMapped:
		return "", api.ReasonModelsNotShared
	}
	return p.account(held, who)
}

// account is the one to which a record's map leads somebody.
func (p *Policy) account(held record, who api.Principal) (account string, reason api.Reason) {
	isOwn := who.Node == p.options.Node
	line, found := lineOf(held.Users, who)
	switch {
	case isOwn && line.Principal != who:
		account = who.User // lines of others are not for this node's own
	case !found || line.Nobody:
		return "", api.ReasonPrincipalUnmapped
	default:
		account = line.Account
	}
	checked, err := p.options.Bounds.Check(p.options.Accounts, account)
	if err != nil {
		p.options.Log.Warn("an account of the map cannot be used", "principal", who, "error", err)
		return "", api.ReasonAccountForbidden
	}
	return checked.Name, ""
}

// AllowsRDMAChange decides whether an administrator of a node may change RDMA at
// this end of a cable; empty where they may.
func (p *Policy) AllowsRDMAChange(from api.NodeID) api.Reason {
	p.mu.Lock()
	changes := p.record.Sharing.RDMAChanges
	p.mu.Unlock()
	switch {
	case !p.isHere(from):
		return api.ReasonNotAMember
	case from != p.options.Node && changes != api.ChangesMembers:
		return api.ReasonRDMAChangesRefused
	}
	return ""
}

// Refuses says why a Mac that lends by these rules does not take a job of a
// member's principal now; empty where it does.
//
// A power source that is not known counts as power: a machine that does not
// tell has no battery as a rule, and one that has tells. That nobody uses the
// Mac has to be known: whoever asks for it would rather lose a job than be
// disturbed. A UPS gives power only while there is none.
func Refuses(s api.Sharing, who api.Principal, now Circumstances) api.Reason {
	if reason := s.Refuses(who); reason != "" {
		return reason
	}
	bound := s.MemoryMaxBytes
	if bound == nil {
		bound = now.WorkingSetBytes
	}
	switch {
	case s.OnlyOnPower && (now.PowerSource == api.PowerBattery || now.PowerSource == api.PowerUPS):
		return api.ReasonOnBattery
	case s.OnlyWhenIdle && !IsIdle(s, now.UserIdleS):
		return api.ReasonNotIdle
	case bound != nil && (now.WantedBytes > *bound || now.HeldBytes > *bound-max(0, now.WantedBytes)):
		return api.ReasonNotEnoughMemory
	}
	return ""
}

// IsIdle reports whether a Mac counts as idle by its rules; unknown does not.
func IsIdle(s api.Sharing, userIdleS *float64) bool {
	return userIdleS != nil && *userIdleS >= s.IdleAfterS
}
