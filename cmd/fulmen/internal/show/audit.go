package show

import (
	"fmt"
	"strings"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// Audit writes what others did on this Mac, a line for each entry, the oldest first.
func (v View) Audit(w *Page, entries []api.AuditEntry, nodes []api.NodeView) {
	if len(entries) == 0 {
		w.Line("Nobody else did anything here that concerns you. To see everything: sudo fulmen events --audit")
		return
	}
	form := "01-02 15:04"
	if v.Wide {
		form = "2006-01-02 15:04:05"
	}
	at := func(t api.Time) string { return t.In(v.Now.Location()).Format(form) }
	people := auditNames{NamesOf(nodes), Self(nodes).Node}
	table := text.NewTable("WHEN", "WHY", "WHO DID WHAT")
	dropped := uint64(0)
	for _, e := range entries {
		last := ""
		if at(e.Last) != at(e.First) {
			last = " until " + at(e.Last)
		}
		table.Row(at(e.First), string(e.Why), people.did(e, last, v.Wide))
		dropped += e.Dropped
	}
	w.Table(table)
	if dropped > 0 {
		fmt.Fprintf(w, "%d older calls were dropped to make room.\n", dropped)
	}
}

// auditNames name nodes and people; those of this Mac by their user alone.
type auditNames struct {
	Names
	self api.NodeID
}

func (n auditNames) person(p api.Principal) string {
	if p.Node == n.self {
		return p.User
	}
	return person(p, n.Names)
}

// auditRoom is what a line of 80 columns has left for who did what.
const auditRoom = 80 - len("01-02 15:04  mapped_account  ")

// did is who did what: ada@mini: job.stop j4k2m9xq7 of bob as guest, job_ended. What
// does not fit is left out unless all of it is wanted: when the last of several calls
// was, then as whom, then of whom.
func (n auditNames) did(e api.AuditEntry, last string, all bool) string {
	who := n.person(e.By)
	switch {
	case !e.By.Valid():
		who = n.Of(e.Node)
	case e.Node != "" && e.Node != e.By.Node:
		who = n.Of(e.Node) + " for " + who
	}
	subject := e.Subject
	for id := range n.Names {
		subject = strings.ReplaceAll(subject, string(id), n.Of(id))
	}
	var of, as, why, times string
	if e.Of.Valid() && e.Of != e.By {
		of = " of " + n.person(e.Of)
	}
	if e.Account != "" && (e.Node != "" || e.Account != e.By.User) {
		as = " as " + e.Account
	}
	if e.Reason != "" {
		why = ", " + string(e.Reason)
	}
	if e.Count > 1 {
		times = fmt.Sprintf(" ×%d", e.Count)
	} else {
		last = ""
	}
	line := func() string { return who + ": " + join(" ", e.What, subject) + of + as + why + times + last }
	for _, part := range []*string{&last, &as, &of} {
		if !all && text.Width(line()) > auditRoom {
			*part = ""
		}
	}
	return line()
}
