package daemon

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/audit"
	"fulmen/daemon/internal/server"
)

// openAudit opens the record of what others did here.
func (d *daemon) openAudit(context.Context) error {
	var err error
	d.audit, err = audit.Open(audit.Config{Clock: d.platform.Clock, Store: storage{d.database}, Log: d.logs.part("audit")})
	if err == nil {
		d.onClose(d.audit.Close)
	}
	return err
}

// auditCall hears of a client's call before it is made. It returns what records how
// it ended, or nil for a call by which people do what is their own, or only look at
// what everybody may see.
func (d *daemon) auditCall(ctx context.Context, c *server.Caller, m api.MethodInfo, raw json.RawMessage) func(error) {
	ofOthers := strings.HasPrefix(m.Name, "job.") || m.Name == "measure.cancel"
	if m.Class != api.ClassAdmin && !ofOthers {
		return nil
	}
	params := map[string]json.RawMessage{}
	_ = json.Unmarshal(raw, &params) // the method says what is wrong with them
	e := audit.Entry{By: c.Principal(), What: m.Name, Subject: subjectOf(params)}
	if !e.By.Valid() { // the system has names that are none elsewhere
		e.By.User = strconv.FormatUint(uint64(c.UID), 10)
	}
	e.Why = api.AuditAdmin
	_ = json.Unmarshal(params["account"], &e.Account)
	if ofOthers {
		if e.Of = d.ownerOf(ctx, params); !e.Of.Valid() || e.Of == e.By {
			return nil
		}
		if d.lending.May(e.By, e.Of) {
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
		d.audit.Record(e)
	}
}

// ownerOf is whose job or measurement a client names; invalid where it names none.
func (d *daemon) ownerOf(ctx context.Context, params map[string]json.RawMessage) api.Principal {
	var id api.JobID
	if json.Unmarshal(params["job"], &id) == nil {
		job, _ := d.jobOf(id)
		return job.Principal
	}
	var measured api.MeasureSelect
	if json.Unmarshal(params["measurement"], &measured.Measurement) != nil {
		return api.Principal{}
	}
	one, err := d.profiler.Get(ctx, measured)
	if err != nil {
		return api.Principal{}
	}
	return one.By
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

// eventAudit is what others did here, as one caller may read it.
func (d *daemon) eventAudit(_ context.Context, c *server.Caller, p api.EventAuditParams) (api.EventAuditResult, error) {
	by, isAdmin := c.Principal(), c.Class() == api.ClassAdmin
	return d.audit.List(p, func(e audit.Entry) bool { return isAdmin || concerns(e, by) }), nil
}

// concerns reports whether an entry is about a person of this Mac: what they did, what
// was done to what is theirs, and what was done as their account.
func concerns(e audit.Entry, person api.Principal) bool {
	return e.By == person || e.Of == person || e.Account == person.User
}
