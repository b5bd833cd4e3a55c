package rank

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native"
)

func TestHowProgramsEnd(t *testing.T) {
	t.Parallel()
	code := func(n int) api.Exit { return api.Exit{Code: &n} }
	for name, test := range map[string]struct {
		script  string
		exit    api.Exit
		reason  api.Reason
		message string
	}{
		"well":                    {`echo well`, code(0), "", ""},
		"with a code":             {`exit 42`, code(42), api.ReasonRankFailed, "Rank 0 ended with exit code 42."},
		"by a signal":             {`kill -USR1 $$`, api.Exit{Signal: int(syscall.SIGUSR1)}, api.ReasonRankKilled, "Rank 0 was ended by SIGUSR1."},
		"by a crash":              {`kill -SEGV $$`, api.Exit{Signal: int(syscall.SIGSEGV)}, api.ReasonRankCrashed, "Rank 0 was ended by SIGSEGV."},
		"leaving a child":         {`sleep 1000 & exit 3`, code(3), api.ReasonRankFailed, "Rank 0 ended with exit code 3."},
		"leaving another session": {`setsid sleep 1000 & exit 0`, code(0), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			m := newMac(t).boot()
			doc := m.run(test.script)
			is.Equal(*doc.Exit, test.exit)
			is.Equal(doc.Reason, test.reason)
			is.Equal(doc.Message, test.message)
			is.True(doc.PID > 0)
			is.True(!doc.SpawnedAt.IsZero() && !doc.EndedAt.Before(doc.SpawnedAt.Time))
			is.True(doc.Usage.MaxResidentBytes > 0)
			m.free(api.RankRef{Job: m.job, Attempt: 1})
			eventually(t, "the unit to be forgotten", func() bool {
				units, err := m.supervisor.List(t.Context(), "")
				return err == nil && len(units) == 0
			})
			is.Equal(len(m.ranks.Live()), 0)
		})
	}
}

func TestARankOfARing(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t)
	m.preparer.env = []string{
		"HOME=/srv/x", "JACCL_RING=1", "MLX_JACCL_COORDINATOR=1.2.3.4:5", "MLX_IBV_DEVICES=/x", "MLX_RANK=9", "FULMEN_JOB=other", "FULMEN_SHARE=1", "MLX_HOSTFILE=/y",
	}
	m.boot()
	spec := m.spec(`id -u; env | grep -E '^(MLX|JACCL|FULMEN_(JOB|RANK|WORLD|SHARE)|HOME|COLOUR)' | grep -v FILE= | sort; cat "$MLX_HOSTFILE" "$FULMEN_SHARES_FILE"`)
	spec.Program.Variables, spec.Placement.ShareBy = []string{"COLOUR"}, api.ShareByMemory
	p := m.params(spec)
	p.Rank.Rank = 1
	p.Environment = map[string]string{"COLOUR": "blue and green"}
	p.Plan.Shape = api.ShapeRing
	p.Plan.Ranks = []api.PlanRank{{Rank: 0, Node: m.homeID, ShareRatio: .999999}, {Rank: 1, Node: m.id, GPU: api.GPUShared, MemoryBytes: 1 << 20, ShareRatio: .000001}}
	p.Plan.Hosts = [][]string{{"169.254.1.1:5000", "[fe80::1]:5001"}, {"169.254.1.2:5002"}}
	m.mustStart(p)
	doc := m.until(p.Rank, api.RankExited)
	is.Equal(doc.Exit.Status(), 0)
	uid := strings.SplitN(m.output(p.Rank), "\n", 2)
	if os.Geteuid() == 0 {
		is.Equal(uid[0], "65534")
	}
	is.Equal(uid[1], "COLOUR=blue and green\nFULMEN_JOB="+string(m.job)+"\nFULMEN_RANK=1\nFULMEN_SHARE=0.000001\nFULMEN_WORLD_SIZE=2\nHOME=/srv/x\nMLX_RANK=1\n"+
		`[["169.254.1.1:5000","[fe80::1]:5001"],["169.254.1.2:5002"]]`+"\n[0.999999,0.000001]\n")

	folder, socket, account, ok := m.ranks.Folder(p.Rank)
	is.True(ok)
	is.Equal(account, m.accounts["worker"].Name)
	is.True(len(socket) <= 100)
	info, err := os.Stat(filepath.Join(folder, "spec.json"))
	is.NoErr(err)
	is.Equal(info.Mode().Perm(), os.FileMode(0o600)) // it has the variable's value
	text, err := os.ReadFile(recordPath(folder))
	is.NoErr(err)
	is.True(!strings.Contains(string(text), "blue"))
	_, _, _, ok = m.ranks.Folder(api.RankRef{Job: m.job, Attempt: 2})
	is.True(!ok)
}

// What a program may do is what its account may.
func TestTheAccountCannotReadTheRanksFiles(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root starts programs as somebody else")
	}
	t.Parallel()
	is := is.New(t)
	m := newMac(t).boot()
	doc := m.run(`ls "` + m.folder + `/jobs" "$FULMEN_SHIM"; cat "$FULMEN_SHIM/spec.json" "$FULMEN_SHIM.json"; touch "$FULMEN_SHIM/exit.json" && exit 1; exit 0`)
	is.Equal(doc.Exit.Status(), 0)
	is.Equal(doc.Output.OutBytes, int64(0))
	is.True(doc.Output.ErrBytes > 0)
}

func TestAProgramThatPrintsALot(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t).boot()
	const bytes = 80_000_000
	doc := m.run(`head -c 80000000 /dev/zero; printf x >&2`)
	is.Equal(doc.Output.OutBytes, int64(bytes))
	is.Equal(doc.Output.ErrBytes, int64(1))
	kept := bytes - doc.Output.DroppedBytes
	is.True(kept >= logHeadBytes+logTailBytes && kept <= logHeadBytes+logTailBytes+(4<<20))
}

// What the disk does not take is told while the rank runs, and at its end.
func TestOutputThatTheDiskDoesNotTakeIsTold(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t)
	reported := make(chan string, 100)
	m.config = func(c *Config) {
		c.OutputLost = func(ref api.RankRef, problem string) { reported <- ref.String() + ": " + problem }
	}
	m.boot()
	p := m.params(m.spec(`cd ` + m.folder + `; until [ -e go ]; do sleep 0.02; done; echo hello; until [ -e end ]; do sleep 0.02; done`))
	m.mustStart(p)
	m.until(p.Rank, api.RankRunning)
	folder, _, _, _ := m.ranks.Folder(p.Rank)
	is.NoErr(os.Mkdir(filepath.Join(folder, "out.0"), 0o700)) // where its output would be
	want := p.Rank.String() + ": is a directory"
	is.Equal(len(reported), 0)
	is.NoErr(os.WriteFile(filepath.Join(m.folder, "go"), nil, 0o600))
	eventually(t, "word while it runs", func() bool {
		is.NoErr(m.call("peer.renew", api.PeerRenewParams{Job: m.job, Attempt: 1, Epoch: 1, LeaseS: 60}, nil))
		return len(reported) > 0
	})
	is.Equal(<-reported, want)
	for len(reported) > 0 {
		<-reported
	}
	m.kill() // another daemon hears it at the rank's end
	is.NoErr(os.WriteFile(filepath.Join(m.folder, "end"), nil, 0o600))
	eventually(t, "the record of its end", func() bool { _, err := os.Stat(filepath.Join(folder, "exit.json")); return err == nil })
	m.boot()
	m.until(p.Rank, api.RankExited)
	eventually(t, "word at the end", func() bool { return len(reported) > 0 })
	is.Equal(<-reported, want)
}

// What ranks print reaches the job's home with each renewal, and what one has printed
// that has ended counts on.
func TestPrintedBytesComeWithRenewals(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t).boot()
	renewed := func() (answer api.PeerRenewResult) {
		is.NoErr(m.call("peer.renew", api.PeerRenewParams{Job: m.job, Attempt: 1, Epoch: 1, LeaseS: 60}, &answer))
		return answer
	}
	p := m.params(m.spec(`echo hello; cd ` + m.folder + `; until [ -e go ]; do sleep 0.02; done; echo more >&2; until [ -e end ]; do sleep 0.02; done`))
	m.mustStart(p)
	m.until(p.Rank, api.RankRunning)
	eventually(t, "6 bytes", func() bool { return renewed().PrintedBytes == 6 })
	is.Equal(renewed().PrintedBytes, int64(6)) // silence is silence
	is.NoErr(os.WriteFile(filepath.Join(m.folder, "go"), nil, 0o644))
	eventually(t, "11 bytes", func() bool { return renewed().PrintedBytes == 11 })
	is.NoErr(os.WriteFile(filepath.Join(m.folder, "end"), nil, 0o644))
	m.until(p.Rank, api.RankExited)
	is.Equal(renewed().PrintedBytes, int64(11))
	m.boot()
	is.Equal(renewed().PrintedBytes, int64(11))
}

// A rank that a signal stops, and what holds one that does not answer, are told in the
// rank's document, and that it is over.
func TestARankThatIsStoppedIsTold(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t).boot()
	p := m.params(m.spec("sleep 1000"))
	m.mustStart(p)
	program := m.until(p.Rank, api.RankRunning).PID
	reported := func(within time.Duration, reason api.Reason, message string) {
		t.Helper()
		began := time.Now()
		eventually(t, "message "+message, func() bool {
			doc, _ := m.doc(p.Rank)
			return doc.Phase == api.RankRunning && doc.Reason == reason && doc.Message == message
		})
		is.True(time.Since(began) < within)
	}
	for _, of := range []struct {
		pid     int
		reason  api.Reason
		message string
	}{
		{program, api.ReasonRankStopped, "Rank 0 is stopped by SIGSTOP, and goes on at SIGCONT."},
		{m.shimPID(), api.ReasonShimSilent, "The process that holds rank 0 does not answer: it may be stopped."},
	} {
		is.NoErr(syscall.Kill(of.pid, syscall.SIGSTOP))
		reported(10*time.Second, of.reason, of.message)
		is.NoErr(syscall.Kill(of.pid, syscall.SIGCONT))
		reported(10*time.Second, "", "")
	}
}

// Two nodes of one machine share its supervisor, as in the demo: a daemon that is started
// again ends what is its own and belongs to no rank, and nothing of the other's, not even
// of the same job and rank.
func TestADaemonEndsOnlyItsOwn(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t).boot()
	unit := func(label string) native.Unit {
		return native.Unit{Label: label, Program: "/bin/sleep", Args: []string{"1000"}, Dir: "/", Env: []string{"PATH=/bin"},
			Socket: filepath.Join(m.folder, label[len(label)-3:]), ErrorLog: filepath.Join(m.folder, "log")}
	}
	ref := api.RankRef{Job: m.job, Attempt: 2}
	own, others := m.ranks.labelOf(ref), api.RankLabel(m.homeID, cluster, api.RankRef{Job: m.job, Attempt: 3})
	for _, label := range []string{own, others} {
		is.NoErr(m.supervisor.Supervisor.Start(t.Context(), unit(label)))
	}
	m.boot()
	units, err := m.supervisor.List(t.Context(), api.RankLabelPrefix)
	is.NoErr(err)
	is.Equal(len(units), 1)
	is.Equal(units[0].Label, others)
	is.Equal(units[0].State, native.UnitRunning)
}

func TestAProgramThatIsNotThere(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t).boot()
	spec := m.spec("")
	spec.Program.Command = []string{"/nowhere/python"}
	p := m.params(spec)
	m.mustStart(p)
	doc := m.until(p.Rank, api.RankExited)
	is.Equal(doc.Reason, api.ReasonProgramMissing)
	is.Equal(doc.Exit, (*api.Exit)(nil))
	is.True(doc.SpawnedAt.IsZero())
	m.free(p.Rank)
}

// Two attempts of a rank share a label, and only the later one a document.
func TestALaterAttempt(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t).boot()
	first := m.params(m.spec(`echo $FULMEN_SHIM; exit 1`))
	m.mustStart(first)
	m.until(first.Rank, api.RankExited)
	second := first
	second.Rank.Attempt = 2
	m.mustStart(second)
	m.until(second.Rank, api.RankExited)
	eventually(t, "the first attempt's document to go", func() bool { _, ok := m.doc(first.Rank); return !ok })
	is.True(m.output(first.Rank) != m.output(second.Rank)) // both are kept
	is.True(m.output(first.Rank) != "")

	err := m.start(first) // which its home would not ask for: it is known here
	is.NoErr(err)
	never := first
	never.Rank.Rank, never.Plan.Ranks = 1, append(first.Plan.Ranks, api.PlanRank{Rank: 1, Node: m.id})
	is.True(isReason(m.start(never), api.ReasonJobEnded)) // an attempt that is over starts nothing

	m.boot()
	_, ok := m.doc(second.Rank)
	is.True(ok)
	_, ok = m.doc(first.Rank)
	is.True(!ok)
	is.Equal(m.supervisor.starts(), 2)
}

// together is the request to start rank 0 of two, with the other one on the home's
// node, that waits for it.
func (m *mac) together(script string, change func(*api.JobSpec)) api.PeerStartParams {
	spec := m.spec(script)
	spec.Program.Prepare = []string{"pip install x"}
	if change != nil {
		change(&spec)
	}
	p := m.params(spec)
	p.Wait = true
	p.Plan.Shape = api.ShapeRing
	p.Plan.Ranks = append(p.Plan.Ranks, api.PlanRank{Rank: 1, Node: m.homeID})
	p.Plan.Hosts = [][]string{{"169.254.1.1:5000"}, {"169.254.1.2:5001"}}
	return p
}

// untilPrepared waits until the document says that the rank waits for the others.
func (m *mac) untilPrepared(ref api.RankRef) {
	m.t.Helper()
	eventually(m.t, ref.String()+" to be prepared", func() bool {
		doc, _ := m.doc(ref)
		if doc.Phase.Ended() {
			m.t.Fatalf("the rank has ended: %+v", doc)
		}
		return !doc.PreparedAt.IsZero()
	})
}

func TestARankWaitsForTheOthers(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t)
	goOn := make(chan struct{})
	m.preparer.prepare = func(context.Context, io.Writer) error { <-goOn; return nil }
	m.preparer.versions = map[string]string{"mlx": "0.32.2"}
	m.boot()
	p := m.together("echo ran", nil)
	m.mustStart(p)
	m.until(p.Rank, api.RankPreparing)
	doc, _ := m.doc(p.Rank)
	is.True(doc.PreparedAt.IsZero())
	close(goOn)
	m.untilPrepared(p.Rank)
	doc, _ = m.doc(p.Rank)
	is.Equal(doc.Phase, api.RankPreparing)
	is.Equal(doc.Versions, m.preparer.versions) // so that the home can compare them before anything runs
	is.NoErr(m.start(p))                        // the same order to start: it waits on
	is.Equal(m.supervisor.starts(), 0)

	spawn := api.PeerSpawnParams{Rank: p.Rank, Epoch: 1}
	other := spawn
	other.Rank.Rank = 1
	is.True(isReason(m.call("peer.spawn", other, nil), api.ReasonNoSuchRank))
	is.NoErr(m.call("peer.spawn", spawn, nil))
	doc = m.until(p.Rank, api.RankExited)
	is.Equal(doc.Exit.Status(), 0)
	is.Equal(m.output(p.Rank), "ran\n")
	is.NoErr(m.call("peer.spawn", spawn, nil)) // whose first answer was lost
	is.Equal(m.supervisor.starts(), 1)
}

// The order may be there first, where a home that was started again repeats it.
func TestARankThatIsToldToRunBeforeItIsPrepared(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t)
	goOn := make(chan struct{})
	m.preparer.prepare = func(context.Context, io.Writer) error { <-goOn; return nil }
	m.boot()
	p := m.together("echo ran", nil)
	m.mustStart(p)
	is.NoErr(m.call("peer.spawn", api.PeerSpawnParams{Rank: p.Rank, Epoch: 1}, nil))
	is.Equal(m.supervisor.starts(), 0)
	close(goOn)
	is.Equal(m.until(p.Rank, api.RankExited).Exit.Status(), 0)
}

// What ends the wait ends the rank: its program is never started.
func TestWhatEndsTheWaitForTheOthers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*api.JobSpec)
		do     func(m *mac, p api.PeerStartParams)
		reason api.Reason
	}{
		"an order to end": {do: func(m *mac, _ api.PeerStartParams) { m.mustEnd(m.endParams(api.ReasonPeerRankFailed, 2)) }, reason: api.ReasonPeerRankFailed},
		"its lease": {do: func(m *mac, _ api.PeerStartParams) {
			if err := m.call("peer.renew", api.PeerRenewParams{Job: m.job, Attempt: 1, Epoch: 1, LeaseS: 0.2}, &api.PeerRenewResult{}); err != nil {
				m.t.Error(err)
			}
		}, reason: api.ReasonLeaseExpired},
		"its deadline": {change: func(s *api.JobSpec) {
			within := 1.0
			s.Deadlines.PreparingS = &within
		}, reason: api.ReasonPreparingTimeout},
		"another daemon": {do: func(m *mac, _ api.PeerStartParams) { m.boot() }, reason: api.ReasonDaemonRestarted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			m := newMac(t)
			m.preparer.prepare = func(context.Context, io.Writer) error { return nil }
			m.boot()
			p := m.together("echo ran", c.change)
			m.mustStart(p)
			if c.do != nil {
				m.untilPrepared(p.Rank)
				c.do(m, p)
			}
			doc := m.until(p.Rank, api.RankExited)
			is.Equal(doc.Reason, c.reason)
			if c.do == nil && !doc.PreparedAt.IsZero() { // as it is but on a machine that stands still
				is.Equal(doc.Message, "Rank 0 was prepared, and waited in vain for rank 1 on "+m.homeID.Display()+".")
			}
			m.free(p.Rank)
			is.NoErr(m.call("peer.spawn", api.PeerSpawnParams{Rank: p.Rank, Epoch: 1}, nil)) // comes too late
			is.Equal(m.supervisor.starts(), 0)
		})
	}
}

// A former home has nothing run.
func TestAFormerHomeHasNothingRun(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t)
	m.preparer.prepare = func(context.Context, io.Writer) error { return nil }
	m.boot()
	p := m.together("echo ran", nil)
	m.mustStart(p)
	m.untilPrepared(p.Rank)
	is.NoErr(m.call("peer.renew", api.PeerRenewParams{Job: m.job, Attempt: 1, Epoch: 3, LeaseS: 30}, &api.PeerRenewResult{}))
	is.True(isReason(m.call("peer.spawn", api.PeerSpawnParams{Rank: p.Rank, Epoch: 1}, nil), api.ReasonStaleEpoch))
	is.True(isReason(m.call("peer.spawn", api.PeerSpawnParams{Rank: p.Rank, Epoch: 3}, nil), api.ReasonNoSuchRank)) // it was the former one's
	end := m.endParams(api.ReasonTakenOver, 0)
	end.Epoch = 3
	m.mustEnd(end)
	is.Equal(m.until(p.Rank, api.RankExited).Reason, api.ReasonTakenOver)
	is.Equal(m.supervisor.starts(), 0)
}

// A preparation has its own time, and not the one for starting.
func TestAPreparationHasItsOwnTime(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t)
	m.preparer.prepare = func(ctx context.Context, _ io.Writer) error { <-ctx.Done(); return ctx.Err() }
	m.boot()
	p := m.together("echo ran", func(s *api.JobSpec) {
		soon, late := 0.05, 3600.0
		s.Deadlines.PreparingS, s.Deadlines.StartingS = &soon, &late
	})
	p.Wait = false // as an older home asks
	m.mustStart(p)
	doc := m.until(p.Rank, api.RankExited)
	is.Equal(doc.Reason, api.ReasonPreparingTimeout)
	is.True(strings.Contains(doc.Message, "not ready to start in time"))
	m.free(p.Rank)
	is.Equal(m.supervisor.starts(), 0)
}
