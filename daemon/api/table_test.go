package api

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestMethodTables(t *testing.T) {
	is := is.New(t)
	groups := []string{"state", "node", "link", "measure", "rdma", "job", "model", "instance", "event", "cluster", "daemon"}
	form := regexp.MustCompile(`^[a-z]+\.[a-z]+(_[a-z]+)*$`)
	seen := map[string]bool{}
	check := func(m MethodInfo, notifications []NotificationInfo) {
		is.True(form.MatchString(m.Name))
		is.True(!seen[m.Name]) // one name, one method, over both tables
		seen[m.Name] = true
		is.True(m.Class.Valid())
		is.True(m.Params != nil && m.Result != nil)
		is.True(strings.HasSuffix(m.Doc, "."))
		is.True(m.Notifies == "" || slices.ContainsFunc(notifications, func(n NotificationInfo) bool { return n.Name == m.Notifies }))
	}
	for _, m := range Methods() {
		check(m, Notifications())
		group, _, _ := strings.Cut(m.Name, ".")
		is.True(slices.Contains(groups, group))
		is.True(m.Class != ClassPeer)
		is.True(!slices.ContainsFunc(PeerMethods(), func(p MethodInfo) bool { return p.Name == m.Name })) // a peer reaches no local method
		got, ok := LookupMethod(m.Name)
		is.True(ok && got.Doc == m.Doc)
	}
	for _, m := range PeerMethods() {
		check(m, PeerNotifications())
		is.True(strings.HasPrefix(m.Name, "peer."))
		is.Equal(m.Class, ClassPeer)
		_, reachable := LookupMethod(m.Name)
		is.True(!reachable) // and a client no peer method
	}
	for _, group := range groups {
		is.True(slices.ContainsFunc(Methods(), func(m MethodInfo) bool { return strings.HasPrefix(m.Name, group+".") }))
	}
	for _, n := range slices.Concat(Notifications(), PeerNotifications()) {
		is.True(form.MatchString(n.Name) && !seen[n.Name])
		seen[n.Name] = true
		used := slices.ContainsFunc(slices.Concat(Methods(), PeerMethods()), func(m MethodInfo) bool { return m.Notifies == n.Name })
		is.True(used) // somebody can ask for it
		_, hasSub := jsonFields(n.Params)["sub"]
		is.True(hasSub) // a notification says to which subscription it belongs
	}
}

// What changes a Mac is never open to a token.
func TestChangesOfTheMacAreAdmin(t *testing.T) {
	for _, name := range []string{"rdma.enable", "rdma.disable", "rdma.undo", "cluster.pair", "cluster.join", "cluster.invite",
		"cluster.remove", "cluster.map_user", "cluster.set_sharing", "daemon.set_config", "daemon.start", "daemon.stop", "node.rename"} {
		m, ok := LookupMethod(name)
		if !ok || m.Class != ClassAdmin {
			t.Errorf("%s is %q", name, m.Class)
		}
	}
}

func TestKindTable(t *testing.T) {
	is := is.New(t)
	want := "identity memory system network thunderbolt rdma reach sharing gpu-profile link-profile job rank grant condition rdma-change node-state pending"
	is.Equal(strings.Join(Kind("").Values(), " "), want)
	constants := constantsOf(t, "Kind")
	slices.Sort(constants)
	is.Equal(slices.Compact(constants), slices.Sorted(slices.Values(Kind("").Values())))
	for _, info := range Kinds() {
		is.True(slices.Contains(info.Name.Values(), string(info.Name)))
		is.True(!info.Live || !info.Persisted)
		got, ok := LookupKind(info.Kind)
		is.True(ok && got.Value == info.Value)
	}
	pending, _ := LookupKind(KindPending)
	is.True(!pending.Replicated) // a stranger is nobody else's business
	_, ok := LookupKind("next-kind")
	is.True(!ok)
}

// Both tables of phases are closed: every phase can be reached from the first,
// and from every phase an end can be reached.
func TestPhaseTables(t *testing.T) {
	t.Run("job", func(t *testing.T) {
		checkPhases(t, JobPhase("").Values(), "queued placing starting handshake running ending backoff home_lost succeeded failed stopped",
			func(p string) []string { return words(JobPhase(p).Next()...) }, func(p string) bool { return JobPhase(p).Ended() })
		is := is.New(t)
		for _, live := range []JobPhase{JobStarting, JobHandshake, JobRunning} {
			for _, next := range []JobPhase{JobQueued, JobPlacing, JobBackoff, JobSucceeded, JobFailed, JobStopped} {
				is.True(!live.May(next)) // ranks are known to have ended first
			}
		}
		is.True(JobStarting.May(JobRunning)) // a ring has no handshake
	})
	t.Run("rank", func(t *testing.T) {
		checkPhases(t, RankPhase("").Values(), "granted preparing starting handshake running ending exited lost",
			func(p string) []string { return words(RankPhase(p).Next()...) }, func(p string) bool { return RankPhase(p).Ended() })
		is := is.New(t)
		is.True(RankStarting.May(RankRunning))
		is.True(!RankGranted.May(RankRunning))
	})
}

func checkPhases(t *testing.T, all []string, want string, next func(string) []string, ended func(string) bool) {
	is := is.New(t)
	is.Equal(strings.Join(all, " "), want)
	reach := func(from string) map[string]bool {
		seen, todo := map[string]bool{}, []string{from}
		for len(todo) > 0 {
			p := todo[0]
			todo = todo[1:]
			if !seen[p] {
				seen[p] = true
				todo = append(todo, next(p)...)
			}
		}
		return seen
	}
	is.Equal(len(reach(all[0])), len(all))
	for _, p := range all {
		is.Equal(len(next(p)) == 0, ended(p))
		is.True(!slices.Contains(next(p), p))
		end := false
		for q := range reach(p) {
			is.True(slices.Contains(all, q))
			end = end || ended(q)
		}
		is.True(end)
	}
}

func TestExitStatus(t *testing.T) {
	is := is.New(t)
	is.Equal(Exit{Code: new(42)}.Status(), 42)
	is.Equal(Exit{Code: new(0)}.Status(), 0)
	is.Equal(Exit{Signal: 9}.Status(), 137)
	is.Equal(Exit{}.Status(), 125)
	is.Equal(RunStatus(ReasonProgramMissing), 127)
	is.Equal(RunStatus(ReasonProgramNotExecutable), 126)
	is.Equal(RunStatus(ReasonNoDaemon), 125)
}

// The numbers fit each other.
func TestTimesAndLimits(t *testing.T) {
	is := is.New(t)
	is.True(DefaultLease >= 3*DefaultLeaseRenewal) // two renewals may be lost
	is.True(DefaultBeatLost >= 3*DefaultBeat)
	is.True(MaxValueBytes*3 < MaxMessageBytes) // several documents fit a message, with their envelopes
	is.True(MaxSpecBytes < MaxValueBytes)
	is.Equal(RankLabel("n", "c", RankRef{Job: "j4k2m9xq7", Attempt: 3, Rank: 2}), "org.fulmen.rank.n.c.j4k2m9xq7.3.2")
	is.Equal(ServiceName(3), "Fulmen Thunderbolt 3")
	is.True(len(RuntimeFolder)+1+len(SocketFile) < 104) // sun_path on macOS
}

func TestJobRequestDefaults(t *testing.T) {
	is := is.New(t)
	by := Principal{"anna", testNode(1)}
	spec := JobRequest{Program: Program{Command: []string{"true"}}}.Spec("j4k2m9xq7", by, sampleTime())
	is.Equal(spec.Placement.Backend, BackendAuto)
	is.Equal(spec.Placement.GPU, GPUExclusive)
	is.Equal(spec.Program.Stdin, StdinNone)
	is.Equal(spec.MaxAttempts, 0) // DefaultStarts
	is.Equal(spec.Output, OutputDelete)
	is.Equal(spec.Principal, by)

	request := sample[JobRequest]()
	request.After = []string{"j4k2m9xq7"} // as the daemon has found it
	full := request.Spec("j4k2m9xq7", by, sampleTime())
	want := sample[JobSpec]()
	want.Job, want.Principal, want.SubmittedAt = full.Job, full.Principal, full.SubmittedAt
	// The daemon says these.
	want.Home, want.Roster, want.ExpiresAt, want.Look, want.Declared = "", nil, Time{}, false, false
	is.Equal(full, want) // nothing of a request is dropped
}
