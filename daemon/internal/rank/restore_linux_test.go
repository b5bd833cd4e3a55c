package rank

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/shimproto"
	"fulmen/native"
)

// A daemon is killed at every step of a start. The next one knows what became of
// the rank: it runs on under it, or never will run.
func TestADaemonIsKilledDuringAStart(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		at   func(m *mac, die func())
		runs bool
	}{
		"while the rank is prepared": {func(m *mac, die func()) {
			m.preparer.resolve = func(ctx context.Context) error { die(); return ctx.Err() }
		}, false},
		"before the supervisor is asked": {func(m *mac, die func()) { m.supervisor.before = die }, false},
		"when the supervisor has begun":  {func(m *mac, die func()) { m.supervisor.after = die }, true},
		"when the program runs":          {func(m *mac, die func()) { m.config = func(c *Config) { c.Spawned = func(api.RankRef) { die() } } }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			m := newMac(t)
			dead := make(chan struct{})
			die := func() {
				m.ranks.stop() // nothing is done from here on but to return
				close(dead)
			}
			test.at(m, die)
			m.boot()
			p := m.params(m.spec(`echo 1; exec sleep 1000`))
			m.mustStart(p)
			<-dead
			m.kill()
			m.preparer.resolve, m.supervisor.before, m.supervisor.after, m.config = nil, nil, nil, nil
			m.boot()
			is.True(m.start(p) == nil) // the same question, the same answer
			if !test.runs {
				doc := m.until(p.Rank, api.RankExited)
				is.Equal(doc.Reason, api.ReasonDaemonRestarted)
				is.Equal(doc.Exit, (*api.Exit)(nil))
				m.free(p.Rank)
				is.Equal(m.supervisor.starts(), 0)
				return
			}
			doc := m.until(p.Rank, api.RankRunning)
			is.True(doc.PID > 0)
			is.True(m.grants.occupied(p.Rank))
			m.printed(p.Rank, 1)
			m.mustEnd(m.endParams(api.ReasonStoppedByPerson, 5))
			is.Equal(m.until(p.Rank, api.RankExited).Exit.Signal, int(syscall.SIGTERM))
			m.free(p.Rank)
			is.Equal(m.supervisor.starts(), 1)
		})
	}
}

// A daemon was killed when it had made a file of a start and not, or not wholly,
// written it. Nothing of that was begun: the rank can be started, or has ended.
func TestADaemonIsKilledWhileItWrites(t *testing.T) {
	t.Parallel()
	const half = `{"job":"`
	for name, test := range map[string]struct {
		spec, record string
		isCommitted  bool
	}{
		"the rank's record":                  {"", "", false},
		"the shim's spec":                    {half, "", true},
		"the record of the supervisor's":     {half + `"}`, "", true},
		"the rank's record, anew after that": {half, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			m := newMac(t)
			dead := make(chan struct{})
			m.supervisor.before = func() { m.ranks.stop(); close(dead) }
			m.boot()
			p := m.params(m.spec(`echo 1; exec sleep 1000`))
			m.mustStart(p)
			<-dead
			m.kill()
			m.supervisor.before = nil
			folder := m.ranks.rankFolder(p.Rank)
			is.NoErr(os.WriteFile(filepath.Join(folder, shimproto.SpecFile), []byte(test.spec), 0o600))
			is.NoErr(os.MkdirAll(filepath.Join(m.folder, "units"), 0o700))
			is.NoErr(os.WriteFile(filepath.Join(m.folder, "units", m.ranks.labelOf(p.Rank)+".unit.json"), nil, 0o600))
			if !test.isCommitted {
				is.NoErr(os.Truncate(recordPath(folder), 0))
				// A start that takes its time has been told of, and is so only when its record is written.
				is.NoErr(m.documents.Delete(api.KindRank, p.Rank.String()))
			}
			m.boot()
			is.Equal(m.supervisor.starts(), 0)
			is.True(m.start(p) == nil)
			if test.isCommitted { // the same question, the same answer
				is.Equal(m.until(p.Rank, api.RankExited).Reason, api.ReasonDaemonRestarted)
				m.free(p.Rank)
				is.Equal(m.supervisor.starts(), 0)
				return
			}
			m.until(p.Rank, api.RankRunning)
			m.printed(p.Rank, 1)
			is.Equal(m.supervisor.starts(), 1)
			units, err := m.supervisor.List(t.Context(), "")
			is.NoErr(err)
			is.Equal(len(units), 1)
			is.NoErr(m.ranks.Forget(t.Context(), m.job, ""))
		})
	}
}

// What happens while no daemon is there is known to the next one.
func TestWhatHappensWithoutADaemon(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		meanwhile func(m *mac, ref api.RankRef)
		phase     api.RankPhase
		reason    api.Reason
		status    int
	}{
		"the program ends": {func(m *mac, ref api.RankRef) {
			m.finish(ref)
			m.recorded(ref)
		}, api.RankExited, api.ReasonRankFailed, 42},
		"the program ends, and its unit is forgotten": {func(m *mac, ref api.RankRef) {
			m.finish(ref)
			m.recorded(ref)
			m.remove(ref)
		}, api.RankExited, api.ReasonRankFailed, 42},
		"the shim is killed": {func(m *mac, ref api.RankRef) {
			m.killShim()
		}, api.RankLost, api.ReasonRankLost, 0},
		"the machine restarts": {func(m *mac, ref api.RankRef) {
			m.killShim()
			m.remove(ref)
		}, api.RankLost, api.ReasonRankLost, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			m := newMac(t).boot()
			p := m.params(m.spec(`echo $$; until [ -e "$FULMEN_TEST_END" ]; do sleep 0.01; done; exit 42`))
			m.preparer.env = []string{"FULMEN_TEST_END=" + m.folder + "/end"}
			m.mustStart(p)
			m.until(p.Rank, api.RankRunning)
			pids := m.printed(p.Rank, 1)
			m.kill()
			test.meanwhile(m, p.Rank)
			m.boot()
			doc := m.until(p.Rank, test.phase)
			is.Equal(doc.Reason, test.reason)
			is.Equal(doc.Exit == nil, test.status == 0)
			if doc.Exit != nil {
				is.Equal(doc.Exit.Status(), test.status)
			}
			is.Equal(doc.PID, pids[0])
			is.True(!doc.SpawnedAt.IsZero() && !doc.EndedAt.IsZero())
			m.free(p.Rank)
			gone(t, pids...)

			m.boot() // and the one after it
			again, _ := m.doc(p.Rank)
			is.Equal(again, doc)
		})
	}
}

func (m *mac) finish(api.RankRef) {
	if err := os.WriteFile(filepath.Join(m.folder, "end"), nil, 0o644); err != nil {
		m.t.Fatal(err)
	}
}

// recorded waits until the shim has noted the end.
func (m *mac) recorded(ref api.RankRef) {
	m.t.Helper()
	eventually(m.t, "the exit record", func() bool {
		_, err := shimproto.ReadExit(m.ranks.rankFolder(ref))
		return !errors.Is(err, fs.ErrNotExist)
	})
}

func (m *mac) remove(ref api.RankRef) {
	if err := m.supervisor.Remove(m.t.Context(), m.ranks.labelOf(ref)); err != nil {
		m.t.Fatal(err)
	}
}

func (m *mac) killShim() {
	if err := syscall.Kill(m.shimPID(), syscall.SIGKILL); err != nil {
		m.t.Fatal(err)
	}
}

func TestAShimIsKilled(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t).boot()
	p := m.params(m.spec(`setsid sleep 1000 & echo $!; sleep 1000 & echo $! $$; wait`))
	m.mustStart(p)
	m.until(p.Rank, api.RankRunning)
	pids := m.printed(p.Rank, 3)
	m.killShim()
	doc := m.until(p.Rank, api.RankLost)
	is.Equal(doc.Reason, api.ReasonRankLost)
	is.True(!m.grants.occupied(p.Rank))
	for _, pid := range pids {
		gone(t, pid)
	}
}

// A shim that hangs cannot keep its rank beyond the lease.
func TestAShimHangs(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t).boot()
	spec := m.spec(`echo $$; exec sleep 1000`)
	spec.Deadlines.GraceS = new(float64)
	p := m.params(spec)
	m.mustStart(p)
	m.until(p.Rank, api.RankRunning)
	pids := m.printed(p.Rank, 1)
	pid := m.shimPID()
	is.NoErr(syscall.Kill(pid, syscall.SIGSTOP))
	m.mustEnd(m.endParams(api.ReasonStoppedByPerson, 0))
	is.Equal(m.until(p.Rank, api.RankLost).Reason, api.ReasonRankLost)
	gone(t, append(pids, pid)...)
}

// Units that nobody here knows are removed, not left to their leases.
func TestAStrayUnit(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t).boot()
	p := m.params(m.spec(`echo $$; exec sleep 1000`))
	m.mustStart(p)
	m.until(p.Rank, api.RankRunning)
	pids := m.printed(p.Rank, 1)
	m.kill()
	is.NoErr(os.RemoveAll(m.ranks.jobFolder(m.job)))
	m.boot()
	is.Equal(m.until(p.Rank, api.RankLost).Message, "The files of the rank are gone from its node.")
	gone(t, pids...)
	units, err := m.supervisor.List(t.Context(), "")
	is.NoErr(err)
	is.Equal(len(units), 0)
}

// A rank that outlives its daemon keeps its lease and no more.
func TestALeaseRunsOutWithoutADaemon(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t).boot()
	p := m.params(m.spec(`echo $$; exec sleep 1000`))
	m.mustStart(p)
	m.until(p.Rank, api.RankRunning)
	pids := m.printed(p.Rank, 1)
	folder, _, _, _ := m.ranks.Folder(p.Rank)
	spec, err := shimproto.ReadSpec(folder)
	is.NoErr(err)
	is.True(spec.LeaseS > 0 && spec.LeaseS <= p.LeaseS) // which it has also if no daemon ever comes
	m.kill()
	m.renewLast(p, 0.5)
	gone(t, pids...)
	m.boot()
	doc := m.until(p.Rank, api.RankExited)
	is.Equal(doc.Reason, api.ReasonLeaseExpired)
	is.Equal(doc.Exit.Signal, int(syscall.SIGTERM))
}

// renewLast renews a rank's lease at its shim as the daemon did that was killed: with
// what little is left of it no rank has to be started in time.
func (m *mac) renewLast(p api.PeerStartParams, leaseS float64) {
	m.t.Helper()
	_, socket, _, _ := m.ranks.Folder(p.Rank)
	conn, err := net.Dial("unix", socket)
	if err != nil {
		m.t.Fatal(err)
	}
	daemon := shimproto.NewDaemonConn(conn)
	defer daemon.Close()
	header := func(id uint64) shimproto.RequestHeader {
		return shimproto.RequestHeader{ID: id, Epoch: int64(p.Epoch)}
	}
	err = errors.Join(
		daemon.Send(shimproto.Hello{RequestHeader: header(1), Ref: shimRef(p.Rank), Versions: shimproto.OwnVersions(), PID: os.Getpid()}, timeout),
		daemon.Send(shimproto.Renew{RequestHeader: header(2), LeaseS: leaseS}, timeout))
	for err == nil {
		var reply shimproto.Reply
		reply, err = daemon.Receive(timeout)
		if status, ok := reply.(shimproto.Status); ok && status.Re == 2 {
			return
		}
	}
	m.t.Fatal(err)
}

func TestForgettingAJob(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		policy, override api.OutputPolicy
		kept             []string
	}{
		"with its output":            {api.OutputDelete, "", nil},
		"but its output":             {api.OutputKeep, "", []string{"err.0", "out.0"}},
		"with its output, overruled": {api.OutputKeep, api.OutputDelete, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			m := newMac(t).boot()
			spec := m.spec(`trap '' TERM; echo to err >&2; echo $$; sleep 1000`)
			spec.Output = test.policy
			p := m.params(spec)
			m.mustStart(p)
			pids := m.printed(p.Rank, 1)
			is.NoErr(m.ranks.Forget(t.Context(), m.job, test.override))
			gone(t, pids...)
			eventually(t, "the document to go", func() bool { _, ok := m.doc(p.Rank); return !ok })
			is.Equal(m.files(), test.kept)
			_, _, _, ok := m.ranks.Folder(p.Rank)
			is.True(!ok)
			m.boot()
			is.Equal(m.files(), test.kept)
		})
	}
}

// A job that was deleted while this node was away is forgotten at its return.
func TestAJobIsDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t).boot()
	p := m.params(m.spec("echo well"))
	m.mustStart(p)
	m.until(p.Rank, api.RankExited)
	m.kill()
	m.known = m.knows(p, 1)
	m.known.Gone = true
	m.boot()
	eventually(t, "the document to go", func() bool { _, ok := m.doc(p.Rank); return !ok })
	is.Equal(m.files(), nil)
}

// files lists the files of all jobs.
func (m *mac) files() (names []string) {
	m.t.Helper()
	err := filepath.WalkDir(filepath.Join(m.folder, "jobs"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, entry.Name())
		}
		return err
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return names
}

func TestRestoreNeedsASupervisor(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t).boot()
	m.kill()
	cfg := m.ranks.cfg
	cfg.Supervisor = native.NoSupervisor{Reason: native.ReasonNoPlatform}
	r := New(cfg)
	defer r.Close()
	err := r.Restore(t.Context())
	is.True(err != nil)
	is.True(strings.Contains(err.Error(), "cannot tell what runs"))
}

func TestTheOutputOfOldRanksMakesRoom(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t)
	var set atomic.Int64 // each is made at an earlier time than the one before
	m.clock = native.ClockFrom(func() time.Time { return time.Now().Add(time.Duration(set.Load())) }, m.clock.Boot)
	m.boot()
	spec := m.spec(`head -c 1000000 /dev/zero`)
	spec.SubmittedAt = api.TimeOf(spec.SubmittedAt.Add(-4 * 24 * time.Hour))
	p := m.params(spec)
	for attempt := range 3 {
		p.Rank.Attempt = attempt + 1
		set.Add(int64(-24 * time.Hour))
		if attempt == 2 {
			m.boot() // a daemon that is started again goes on counting
		}
		m.mustStart(p)
		m.until(p.Rank, api.RankExited)
	}
	sizes := func() (all []bool) {
		for attempt := range 3 {
			_, err := os.Stat(filepath.Join(m.ranks.jobFolder(m.job), strconv.Itoa(attempt+1), "0", "out.0"))
			all = append(all, err == nil)
		}
		return all
	}
	atMost := func() (total int64) {
		m.ranks.mu.Lock()
		defer m.ranks.mu.Unlock()
		for _, h := range m.ranks.held {
			total += h.logsAtMostLocked()
		}
		return total
	}
	m.ranks.trimLogsTo(3 * logRoom)
	is.Equal(atMost(), int64(3*logRoom)) // so that nobody had to look
	m.ranks.trimLogsTo(10_000_000)
	is.Equal(sizes(), []bool{true, true, true})
	is.True(atMost() >= 3_000_000 && atMost() < 10_000_000)
	m.ranks.trimLogsTo(2_500_000)
	is.Equal(sizes(), []bool{false, true, true})
	is.True(atMost() < 2_500_000)
	m.ranks.trimLogsTo(0)
	is.Equal(sizes(), []bool{false, false, false})
	is.Equal(atMost(), int64(0))
}

// What a rank that runs may still print is counted as if it were there.
func TestTheOutputOfARankThatRunsIsBounded(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t).boot()
	p := m.params(m.spec(`echo 1; exec sleep 1000`))
	m.mustStart(p)
	m.printed(p.Rank, 1)
	m.ranks.trimLogsTo(0) // it is looked at, and stays
	m.printed(p.Rank, 1)
	m.ranks.mu.Lock()
	defer m.ranks.mu.Unlock()
	is.Equal(m.ranks.held[p.Rank].logsAtMostLocked(), int64(logRoom))
}
