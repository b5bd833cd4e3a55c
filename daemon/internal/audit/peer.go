package audit

import (
	"strings"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
)

// OfPeer is the record of what another node had this one do, or was refused. account is
// that as which jobs of the principal run here; empty where they do not.
func OfPeer(e gate.Entry, account string) Entry {
	what, _, _ := strings.Cut(e.Door, "/")
	entry := Entry{Node: e.From, By: e.By, Of: e.Of, What: what, Subject: e.Subject, Reason: e.Refused, Why: peerWhy[e.Why], Account: account}
	if e.Refused != "" {
		entry.Why = api.AuditRefused
	}
	return entry
}

// peerWhy is the audit's word for what the gate found proven.
var peerWhy = map[gate.Who]api.AuditWhy{
	gate.WhoMember: api.AuditMember, gate.WhoHome: api.AuditHome, gate.WhoFormer: api.AuditHome, gate.WhoPerson: api.AuditSubmitter,
	gate.WhoRank: api.AuditRankNode, gate.WhoCable: api.AuditCableEnd,
}
