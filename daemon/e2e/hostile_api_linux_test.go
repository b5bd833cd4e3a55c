package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/e2e/cast"
)

// localParams are what is sent to the methods that are about one job.
var localParams = map[string]func(api.JobID) any{
	"job.get":       func(id api.JobID) any { return api.JobSelect{Job: id} },
	"job.watch":     func(id api.JobID) any { return api.JobSelect{Job: id} },
	"job.logs":      func(id api.JobID) any { return api.JobLogsParams{Job: id} },
	"job.input":     func(id api.JobID) any { return api.JobInputParams{Job: id, OffsetBytes: -1, Data: []byte("x")} },
	"job.resize":    func(id api.JobID) any { return api.JobResizeParams{Job: id, Rows: 24, Columns: 80} },
	"job.stop":      func(id api.JobID) any { return api.JobStopParams{Job: id} },
	"job.retry":     func(id api.JobID) any { return api.JobSelect{Job: id} },
	"job.take_over": func(id api.JobID) any { return api.JobSelect{Job: id} },
	"job.delete":    func(id api.JobID) any { return api.JobDeleteParams{Job: id} },
}

// localDenials are the reasons by which an account is kept out, or told that there is
// nothing. Whatever else comes of a call, it was let in.
var localDenials = []api.Reason{
	api.ReasonAdminRequired, api.ReasonNotYourJob, api.ReasonPeerNotAllowed, api.ReasonNoSuchJob, api.ReasonJobDeleted,
	api.ReasonSocketOnly, api.ReasonNoToken, api.ReasonBadToken, api.ReasonOtherAccount, api.ReasonCallerUnknown, api.ReasonUnknownMethod,
}

// letIn is how long a call that was let in may wait for other nodes, none of which
// answer here. A refusal needs nobody.
const letIn = 5 * time.Second

// testLocal has every account use every method of the local API of studio-1, for jobs
// whose homes are elsewhere: the methods about jobs with such as they take, and all
// others with parameters that none takes, so that nothing is done.
func (a *attack) testLocal(t *testing.T) {
	m := a.newMatrix(t)
	accounts := map[string]*client.Client{"same": a.clients.victim, "other": a.clients.other, "admin": a.Nodes[0].Client}
	type one struct{ method, account, subject string }
	jobs := map[one]api.JobID{}
	var known, deleted written
	var cases []one
	for _, info := range api.Methods() {
		for account := range accounts {
			if localParams[info.Name] == nil {
				cases = append(cases, one{info.Name, account, "-"})
				continue
			}
			c, self := m.cast("peer.job/values") // studio-1 is the submitter's node
			c.User = a.victim.User
			for _, subject := range []string{"own", "another", "ended", "deleted", "never"} {
				w := cast.NewWorld(c, self, "first", subject)
				m.documents(t, w, &known, &deleted)
				jobs[one{info.Name, account, subject}] = w.Spec.Job
				cases = append(cases, one{info.Name, account, subject})
			}
		}
	}
	m.reports(t, known, true)
	m.reports(t, deleted, false)
	var all sync.WaitGroup
	for _, c := range cases {
		all.Go(func() {
			params := any(json.RawMessage("[]"))
			if job := jobs[c]; job != "" {
				params = localParams[c.method](job)
			}
			ctx, cancel := context.WithTimeout(t.Context(), letIn)
			defer cancel()
			got := "yes"
			if _, err := client.Call[json.RawMessage](ctx, accounts[c.account], c.method, params); err != nil {
				if reason := api.AsError(err).Data.Reason; slices.Contains(localDenials, reason) {
					got = string(reason)
				} else if c.subject == "-" && reason != api.ReasonBadValue && reason != api.ReasonNotBuiltYet {
					got = fmt.Sprint(err)
				}
			} else if c.subject == "-" {
				got = "it was done"
			}
			if want := expectedLocal(c.method, c.account, c.subject); want == "" || !slices.Contains(strings.Fields(want), got) {
				t.Errorf("%s | %s | %s: %s, not %q", c.method, c.account, c.subject, got, want)
			}
		})
	}
	all.Wait()
	for name, words := range localGroups {
		for _, w := range strings.Fields(words) {
			if _, isMethod := api.LookupMethod(w); !isMethod && localGroups[w] == "" {
				t.Errorf("%s: there is no method %s", name, w)
			}
		}
	}
	t.Logf("%d cases", len(cases))
}
