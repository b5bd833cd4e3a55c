package audit

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
)

// Calls records what clients have this node do.
type Calls struct {
	Log *Log
	// OwnerOf is whose a job, or a measurement, is; invalid where it is nobody's.
	OwnerOf func(ctx context.Context, job api.JobID, measurement api.MeasureID) api.Principal
	// May reports whether somebody of this node may act for a principal.
	May func(by, of api.Principal) bool
}

// Begin hears of a client's call before it is made. It returns what records how it
// ended, or nil for a call by which people do what is their own, or only look at what
// everybody may see.
func (d Calls) Begin(ctx context.Context, by api.Principal, uid uint32, m api.MethodInfo, raw json.RawMessage) func(error) {
	ofOthers := strings.HasPrefix(m.Name, "job.") || m.Name == "measure.cancel"
	if m.Class != api.ClassAdmin && !ofOthers {
		return nil
	}
	params := map[string]json.RawMessage{}
	_ = json.Unmarshal(raw, &params) // the method says what is wrong with them
	e := Entry{By: by, What: m.Name, Subject: subjectOf(params)}
	if !e.By.Valid() { // the system has names that are none elsewhere
		e.By.User = strconv.FormatUint(uint64(uid), 10)
	}
	e.Why = api.AuditAdmin
	_ = json.Unmarshal(params["account"], &e.Account)
	if ofOthers {
		if e.Of = d.ownerOf(ctx, params); !e.Of.Valid() || e.Of == e.By {
			return nil
		}
		if d.May(e.By, e.Of) {
			e.Why, e.Account = api.AuditMappedAccount, e.By.User
		}
	}
	return func(err error) {
		if err == nil && string(params["dry_run"]) == "true" {
			return // nothing was done
		}
		if err != nil {
			e.Reason = api.AsError(err).Data.Reason
			if code := api.AsError(err).Code; code == api.CodeDenied || code == api.CodeUnauthenticated {
				e.Why = api.AuditRefused
			}
		}
		d.Log.Record(e)
	}
}

// ownerOf is whose job or measurement a client names; invalid where it names none.
func (d Calls) ownerOf(ctx context.Context, params map[string]json.RawMessage) api.Principal {
	var id api.JobID
	var measured api.MeasureID
	if json.Unmarshal(params["job"], &id) != nil && json.Unmarshal(params["measurement"], &measured) != nil {
		return api.Principal{}
	}
	return d.OwnerOf(ctx, id, measured)
}

// named are the parameters of which the value says what a call is about. The values
// of all others stay out of the record: a code or an invitation is among them.
var named = []string{"job", "measurement", "link", "links", "nodes", "node", "principal"}

// subjectOf is what a call is about: what it names, else the names of what it gives.
func subjectOf(params map[string]json.RawMessage) string {
	for _, key := range named {
		var one string
		if json.Unmarshal(params[key], &one) == nil && one != "" {
			return one
		}
		var many []string
		if json.Unmarshal(params[key], &many) == nil && len(many) > 0 {
			return strings.Join(many, ",")
		}
	}
	var set map[string]json.RawMessage // of the configuration
	if json.Unmarshal(params["set"], &set) == nil && len(set) > 0 {
		params = set
	}
	return strings.Join(slices.Sorted(maps.Keys(params)), ",")
}

// Concerns reports whether an entry is about a person of this Mac: what they did, what
// was done to what is theirs, and what was done as their account.
func Concerns(e Entry, person api.Principal) bool {
	return e.By == person || e.Of == person || e.Account == person.User
}

// OfPeer is the record of what another node had this one do, or was refused. account is
// that as which jobs of the principal run here; empty where they do not.
func OfPeer(e gate.Entry, account string) Entry {
	what, _, _ := strings.Cut(e.Route, "/")
	entry := Entry{Node: e.From, By: e.By, Of: e.Of, What: what, Subject: e.Subject, Reason: e.Refused, Why: peerWhy[e.Why], Account: account}
	if e.Refused != "" {
		entry.Why = api.AuditRefused
	}
	return entry
}

// peerWhy is the audit's word for what the gate found proven.
var peerWhy = map[gate.Who]api.AuditWhy{
	gate.WhoMember: api.AuditMember, gate.WhoHome: api.AuditHome, gate.WhoFormer: api.AuditHome, gate.WhoPerson: api.AuditSubmitter,
	gate.WhoRank: api.AuditRankNode, gate.WhoReader: api.AuditMappedAccount, gate.WhoAccount: api.AuditMappedAccount, gate.WhoCable: api.AuditCableEnd,
}
