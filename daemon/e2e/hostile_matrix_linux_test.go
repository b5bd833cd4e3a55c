package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/e2e/cast"
	"fulmen/daemon/e2e/hostile"
	"fulmen/daemon/internal/gate"
)

// matrix is every caller at every door of studio-1 for every subject: the cast of the
// gate's own matrix, with the keys of real members. What is expected is the same, and
// is written with its reasons in the gate's rules.
type matrix struct {
	*attack
	members map[string]*hostile.Member
	cable   api.LinkID
	// recorded is studio-1's audit of what followed, once all is done.
	recorded map[matrixUse][]api.AuditEntry
}

// matrixUse is what one call or connection is recorded by.
type matrixUse struct {
	node    api.NodeID
	what    string
	subject string
}

// matrixCallers are the callers whose keys make them what they are. A person's word
// that binds one node alone takes a person there, and is tried at the gate alone.
var matrixCallers = []string{"stranger", "removed", "member", "submitter", "first", "offered", "former", "voted", "acted", "rank", "cable"}

// matrixGroups are doors that leave a job as it is, and those that do not, each of which
// has jobs of its own.
var matrixGroups = []string{"", "peer.job/stop", "peer.job/delete", "peer.job/submit", "peer.job/values"}

// matrixCase is one case that was tried.
type matrixCase struct {
	route, caller, subject string
	use                    matrixUse
	err                    error
}

func (c matrixCase) String() string { return c.route + " | " + c.caller + " | " + c.subject }

// testMatrix has every caller use every door of a real daemon.
func (a *attack) testMatrix(t *testing.T) {
	m := a.newMatrix(t)
	began := time.Now()
	var tried []matrixCase
	for _, group := range matrixGroups {
		tried = append(tried, m.try(t, group)...)
	}
	m.readAudit(t)
	for _, c := range tried {
		want, rule := cast.Expected(c.route, c.caller, c.subject)
		if rule < 0 {
			t.Errorf("%s: no rule", c)
			continue
		}
		if got := m.outcome(c); got != want {
			t.Errorf("%s: %s, not %s (%v)", c, got, want, c.err)
		}
	}
	// Of values studio-1 is the submitter's node itself, and does not ask.
	if want := (len(gate.Table())*len(matrixCallers) - 1) * len(cast.Subjects); len(tried) != want {
		t.Errorf("%d cases, not %d", len(tried), want)
	}
	t.Logf("%d cases in %v", len(tried), time.Since(began))
}

// newMatrix makes the cast members: studio-1 is called, studio-2 is at the other end of
// a cable of it, and all others are invented and added by the hostile member.
func (a *attack) newMatrix(t *testing.T) *matrix {
	ctx, to := t.Context(), a.Nodes[0].ID
	m := &matrix{attack: a, members: map[string]*hostile.Member{}}
	var added []*hostile.Member
	for _, name := range append([]string{"other"}, matrixCallers...) {
		m.members[name] = a.network.Invented(name, a.cluster)
		if name != "stranger" && name != "cable" {
			added = append(added, m.members[name])
		}
	}
	var err error
	for name, i := range map[string]int{"self": 0, "cable": 1, "studio-3": 2, "studio-4": 3} {
		m.members[name], err = a.network.Stolen(a.Nodes[i].Home, a.cluster)
		must(t, "a key", err)
	}
	must(t, "the roster", a.m.Learn(ctx, to))
	must(t, "to add members", a.m.Adds(ctx, to, added...))
	must(t, "to remove one", a.m.Removes(ctx, to, m.members["removed"]))
	sharing, err := m.members["rank"].Signs(api.KindSharing, "", api.Sharing{Jobs: api.JobsMapped, MappedMembers: true, RDMAChanges: api.ChangesNobody})
	must(t, "a map", err)
	m.puts(t, "rank", sharing)
	call[api.Sharing](t, a.Nodes[0].Client, "cluster.set_sharing", api.ClusterSetSharingParams{RDMAChanges: api.ChangesNobody})
	for _, c := range call[api.LinkListResult](t, a.Nodes[0].Client, "link.list", nil).Cables {
		_, isHere := c.Link.End(to)
		_, isThere := c.Link.End(a.Nodes[1].ID)
		if isHere && isThere {
			m.cable = c.Link
		}
	}
	return m
}

func (m *matrix) puts(t *testing.T, by string, docs ...api.Document) {
	t.Helper()
	refused, err := m.members[by].Puts(t.Context(), m.Nodes[0].ID, docs...)
	if err != nil || len(refused) > 0 {
		t.Fatalf("documents of %s: %v %v", by, refused, err)
	}
}

// cast is the gate's, with the members' keys, and ids for a group's jobs. Of values the
// node that is called is the submitter's.
func (m *matrix) cast(group string) (c *cast.Cast, self string) {
	ids := map[string]api.JobID{}
	c = cast.NewCast()
	c.ID, c.Heads, c.Now, c.Cable, c.Elect = m.cluster, m.network.Heads(), time.Now().Truncate(time.Second), m.cable, nil
	for name, member := range m.members {
		c.Keys[name] = member.Key()
	}
	if self = "self"; group == "peer.job/values" {
		self = "submitter"
		c.Keys[self] = m.members["self"].Key()
	}
	voters := map[api.NodeID]string{}
	for name := range c.Keys {
		voters[c.Node(name)] = name
	}
	for _, node := range m.network.Roster().Current() {
		if name := voters[node]; name != "" {
			c.Elect = append(c.Elect, name)
		}
	}
	slices.Sort(c.Elect)
	c.Job = func(caller, subject string, isOwn bool) api.JobID {
		key := fmt.Sprint(caller, subject, isOwn)
		if ids[key] == "" {
			ids[key] = api.NewJobID()
		}
		return ids[key]
	}
	return c, self
}

// try has all callers use the doors of a group, one after the other each.
func (m *matrix) try(t *testing.T, group string) []matrixCase {
	c, self := m.cast(group)
	var routes []string
	for _, row := range gate.Table() {
		if row.Name == group || group == "" && !slices.Contains(matrixGroups, row.Name) {
			routes = append(routes, row.Name)
		}
	}
	worlds := map[[2]string]*cast.World{}
	var known, deleted written
	for _, caller := range matrixCallers {
		for _, subject := range cast.Subjects {
			w := cast.NewWorld(c, self, caller, subject)
			worlds[[2]string{caller, subject}] = w
			if caller != "stranger" && caller != "removed" { // their homes write nothing that is taken
				m.documents(t, w, &known, &deleted)
			}
		}
	}
	m.reports(t, known, true)
	m.reports(t, deleted, false)
	var mu sync.Mutex
	var tried []matrixCase
	var all sync.WaitGroup
	for _, caller := range matrixCallers {
		all.Go(func() {
			for _, route := range routes {
				for _, subject := range cast.Subjects {
					if caller == self {
						continue // it is the daemon itself
					}
					one := m.use(t.Context(), worlds[[2]string{caller, subject}], route)
					mu.Lock()
					tried = append(tried, one)
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	return tried
}

// written are documents of jobs, by the name of their writer.
type written struct {
	docs map[string][]api.Document
	ids  map[api.JobID]bool
}

func (w *written) add(t *testing.T, by string, d api.Document, err error) {
	must(t, "a document", err)
	if w.docs == nil {
		w.docs, w.ids = map[string][]api.Document{}, map[api.JobID]bool{}
	}
	w.docs[by] = append(w.docs[by], d)
	w.ids[api.JobID(d.Name)] = true
}

// documents are by which studio-1 is to know what a world says that it knows.
func (m *matrix) documents(t *testing.T, w *cast.World, known, deleted *written) {
	if !w.IsKnown {
		return
	}
	job := w.Known.Job
	if w.Known.Gone {
		job = w.Before
	}
	for name, member := range m.members {
		if member.Node != job.Home || name == "self" {
			continue
		}
		doc, err := member.Signs(api.KindJob, string(w.Spec.Job), job)
		known.add(t, name, doc, err)
		if w.Known.Gone {
			end, err := member.Ends(w.Spec.Job, job.Homes)
			deleted.add(t, name, end, err)
		}
		return
	}
	t.Fatalf("nobody is %s", job.Home)
}

// reports gives studio-1 documents and waits until it knows the jobs, or has forgotten
// them.
func (m *matrix) reports(t *testing.T, w written, isKnown bool) {
	t.Helper()
	for by, docs := range w.docs {
		m.puts(t, by, docs...)
	}
	eventually(t, "jobs that studio-1 knows", soon, func() bool {
		n := 0
		for _, job := range call[api.JobListResult](t, m.Nodes[0].Client, "job.list", api.JobListParams{Ended: true}).Jobs {
			if w.ids[job.Job] {
				n++
			}
		}
		return isKnown && n == len(w.ids) || !isKnown && n == 0
	})
}

// use is one case. A connection that was taken is closed at once.
func (m *matrix) use(ctx context.Context, w *cast.World, route string) matrixCase {
	one := matrixCase{route: route, caller: w.Caller, subject: w.Subject}
	by, to := m.members[w.Caller], m.Nodes[0].ID
	one.use = matrixUse{node: by.Node, what: route, subject: string(w.Spec.Job)}
	if first := cast.Firsts[route]; first != nil {
		start := first(w)
		start.Carries = api.PeerConnKind(route)
		if start.Rank.Job != "" {
			one.use.subject = start.Rank.String()
		}
		conn, err := by.Stream(ctx, to, start)
		if one.err = err; err == nil {
			// What was refused is closed, with words or without, once it is recorded.
			_ = conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
			_, _ = conn.Read(make([]byte, 1))
			conn.Close()
		}
		return one
	}
	method, params := route, any(struct{}{})
	if send := cast.Sends[route]; send != nil {
		params = send(w)
		if _, isJob := params.(api.PeerJobParams); isJob {
			method = "peer.job"
		}
		if link := m.cable; route == "peer.rdma" || route == "peer.probe" {
			one.use.subject = link.String()
		}
	}
	one.use.what = method
	one.err = by.Call(ctx, to, method, params, nil)
	return one
}

// readAudit reads all that studio-1 has recorded.
func (m *matrix) readAudit(t *testing.T) {
	m.recorded = map[matrixUse][]api.AuditEntry{}
	for before := uint64(0); ; {
		page := call[api.EventAuditResult](t, m.Nodes[0].Client, "event.audit", api.EventAuditParams{Before: before})
		for _, e := range page.Entries {
			use := matrixUse{e.Node, e.What, e.Subject}
			m.recorded[use] = append(m.recorded[use], e)
		}
		if !page.More || len(page.Entries) == 0 {
			return
		}
		before = page.Entries[0].Seq
	}
}

// outcome is what the gate said of a case: what it told the caller, and what it has
// recorded, since a handler behind it refuses much of what a cast that knows no program
// asks for. Doors of any member record nothing that is admitted.
func (m *matrix) outcome(c matrixCase) string {
	if errors.Is(c.err, hostile.ErrTurnedAway) {
		return string(api.ReasonNotAMember) // before there was a door
	}
	entries := m.recorded[c.use]
	isOfMembers := cast.RouteGroups.Fits("of-members", c.route)
	isStream := cast.Firsts[c.route] != nil
	admitted := slices.ContainsFunc(entries, func(e api.AuditEntry) bool { return e.Why != api.AuditRefused })
	if isStream && !isOfMembers {
		for _, e := range entries {
			if e.Why == api.AuditRefused {
				return string(e.Reason)
			}
		}
		if admitted {
			return "yes"
		}
		return "nothing recorded"
	}
	if c.err != nil {
		reported, isReported := errors.AsType[*api.Error](c.err)
		if !isReported {
			return c.err.Error()
		}
		isRefused := slices.ContainsFunc(entries, func(e api.AuditEntry) bool { return e.Why == api.AuditRefused && e.Reason == reported.Data.Reason })
		if isRefused || !admitted && !isOfMembers {
			return string(reported.Data.Reason)
		}
	}
	if isOfMembers || admitted {
		return "yes"
	}
	return "nothing recorded"
}
