package rank

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/rank/prepare"
)

func (m *mac) endParams(reason api.Reason, graceS float64) api.PeerEndParams {
	return api.PeerEndParams{Job: m.job, Attempt: 1, Epoch: 1, Reason: reason, GraceS: graceS}
}

// printed waits until the rank has printed so many numbers.
func (m *mac) printed(ref api.RankRef, n int) (numbers []int) {
	m.t.Helper()
	eventually(m.t, "what the rank prints", func() bool {
		numbers = nil
		for _, word := range strings.Fields(m.output(ref)) {
			if number, err := strconv.Atoi(word); err == nil {
				numbers = append(numbers, number)
			}
		}
		return len(numbers) >= n
	})
	return numbers
}

// gone waits until none of the processes is there; a zombie is not there.
func gone(t *testing.T, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		eventually(t, fmt.Sprintf("the end of %d", pid), func() bool {
			if syscall.Kill(pid, 0) == syscall.ESRCH {
				return true
			}
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			return err == nil && strings.Contains(string(stat), ") Z ")
		})
	}
}

// asleep waits until each of the processes is sleep: one that the shell has forked
// and that is the shell still forgets a signal for which the shell has a trap.
func asleep(t *testing.T, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		eventually(t, fmt.Sprintf("%d to be sleep", pid), func() bool {
			comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
			return err == nil && string(comm) == "sleep\n"
		})
	}
}

func TestEndingARank(t *testing.T) {
	t.Parallel()
	const forks = `setsid sleep 1000 & echo $!; sleep 1000 & echo $! $$; `
	const inGroup = `sleep 1000 & echo $!; sleep 1000 & echo $! $$; `
	for name, test := range map[string]struct {
		script string
		graceS float64
		exit   api.Exit
	}{
		"one that ends itself":        {`trap 'exit 7' TERM; ` + inGroup + `wait`, 20, api.Exit{Code: ptr(7)}},
		"one that ignores SIGTERM":    {`trap '' TERM; ` + forks + `wait; wait`, 0.05, api.Exit{Signal: int(syscall.SIGKILL)}},
		"at once":                     {`trap 'exit 7' TERM; ` + forks + `wait`, 0, api.Exit{Signal: int(syscall.SIGKILL)}},
		"one that does nothing about": {inGroup + `wait`, 20, api.Exit{Signal: int(syscall.SIGTERM)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			m := newMac(t).boot()
			p := m.params(m.spec(test.script))
			m.mustStart(p)
			m.until(p.Rank, api.RankRunning)
			pids := m.printed(p.Rank, 3)
			asleep(t, pids[:2]...)
			is.Equal(m.ranks.Live(), []Live{{Rank: p.Rank, Home: m.homeID, Epoch: 1, Phase: api.RankRunning}})
			m.mustEnd(m.endParams(api.ReasonStoppedByPerson, test.graceS))
			doc := m.until(p.Rank, api.RankExited)
			is.Equal(doc.Exit.Status(), test.exit.Status())
			is.Equal(doc.Reason, api.ReasonStoppedByPerson)
			gone(t, pids...)
			m.free(p.Rank)
		})
	}
}

func ptr(n int) *int { return &n }

func TestAHarderEndShortensTheGrace(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t).boot()
	p := m.params(m.spec(`trap '' TERM; echo 1; sleep 1000; sleep 1000`))
	m.mustStart(p)
	m.printed(p.Rank, 1)
	first := m.endParams(api.ReasonLinkGone, 1000)
	first.Message = "The cable a:1 - b:1\x1b[2J was pulled.\n"
	m.mustEnd(first)
	is.Equal(m.until(p.Rank, api.RankEnding).Reason, api.ReasonLinkGone)
	m.mustEnd(m.endParams(api.ReasonStoppedByPerson, 0))
	doc := m.until(p.Rank, api.RankExited)
	is.Equal(doc.Exit.Signal, int(syscall.SIGKILL))
	is.Equal(doc.Reason, api.ReasonLinkGone) // the first cause stays
	is.Equal(doc.Message, "The cable a:1 - b:1 [2J was pulled.")
}

// An order to end that overtakes the one to start holds, also for a daemon that
// was restarted in between.
func TestEndedBeforeItWasStarted(t *testing.T) {
	t.Parallel()
	for name, ranks := range map[string][]int{"all": nil, "one": {0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			m := newMac(t).boot()
			end := m.endParams(api.ReasonPeerRankFailed, 0)
			end.Ranks = ranks
			m.mustEnd(end)
			p := m.params(m.spec("echo ran"))
			is.True(isReason(m.start(p), api.ReasonJobEnded))
			m.boot()
			is.True(isReason(m.start(p), api.ReasonJobEnded))
			is.Equal(m.supervisor.starts(), 0)
			p.Rank.Attempt = 2
			m.mustStart(p)
			m.until(p.Rank, api.RankExited)
		})
	}
}

// A rank that is being prepared has ended as soon as somebody says so, however
// long the preparation takes to notice.
func TestEndedWhileItIsPrepared(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t)
	preparing, goOn := make(chan struct{}), make(chan struct{})
	m.preparer.resolve = func(context.Context) error {
		close(preparing)
		<-goOn
		return nil // it has noticed nothing
	}
	m.boot()
	p := m.params(m.spec("echo ran"))
	m.mustStart(p)
	<-preparing
	m.until(p.Rank, api.RankPreparing)
	m.mustEnd(m.endParams(api.ReasonStoppedByPerson, 10))
	doc := m.until(p.Rank, api.RankExited)
	is.Equal(doc.Reason, api.ReasonStoppedByPerson)
	is.Equal(doc.Exit, (*api.Exit)(nil))
	is.True(m.grants.occupied(p.Rank)) // something may still work for it
	close(goOn)
	m.free(p.Rank)
	<-m.ranks.Ended(p.Rank)
	is.Equal(m.supervisor.starts(), 0)
	is.NoErr(m.start(p)) // the same question, the same answer
	is.Equal(m.supervisor.starts(), 0)
}

// slowly publishes the end of a rank as slowly as a disk may be.
type slowly struct {
	ledger.Publisher
	asked, goOn chan struct{}
}

func (s slowly) Put(kind api.Kind, name string, value any, unknown map[string]api.Reason) error {
	if value.(api.Rank).Phase.Ended() {
		s.asked <- struct{}{}
		<-s.goOn
	}
	return s.Publisher.Put(kind, name, value, unknown)
}

// Who waits for the end of a rank finds its document: a Mac that sleeps tells it then.
func TestEndedIsPublished(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t)
	slow := slowly{asked: make(chan struct{}, 8), goOn: make(chan struct{})}
	m.config = func(c *Config) {
		slow.Publisher = c.Documents
		c.Documents = slow
	}
	m.boot()
	p := m.params(m.spec("true"))
	m.mustStart(p)
	over := m.ranks.Ended(p.Rank)
	<-slow.asked
	eventually(t, "the grant to be free", func() bool { return !m.grants.occupied(p.Rank) })
	select {
	case <-over:
		t.Error("it is over before anybody can know")
	default:
	}
	close(slow.goOn)
	<-over
	doc, _ := m.doc(p.Rank)
	is.True(doc.Phase.Ended())
}

func TestPreparing(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t)
	dir := t.TempDir()
	m.config = func(c *Config) {
		c.Fetch = func(_ context.Context, job api.JobID, spec api.JobSpec, _ prepare.Account, plan api.Plan) (string, error) {
			if job != m.job || !spec.Program.Sync || plan.Ranks[0].Node != m.id {
				return "", errors.New("called wrongly")
			}
			return "/tmp", nil
		}
	}
	fails := true
	m.preparer.versions = map[string]string{"mlx": "0.32.2"}
	m.preparer.prepare = func(_ context.Context, log io.Writer) error {
		fmt.Fprintln(log, "no such package")
		if fails {
			return errors.New("exit status 1")
		}
		return nil
	}
	m.boot()
	spec := m.spec("pwd")
	spec.Program.Sync, spec.Program.Prepare, spec.Program.Directory = true, []string{"pip install x"}, dir
	p := m.params(spec)
	m.mustStart(p)
	doc := m.until(p.Rank, api.RankExited)
	is.Equal(doc.Reason, api.ReasonPrepareFailed)
	is.True(strings.HasSuffix(doc.Message, "no such package"))
	is.True(strings.HasPrefix(doc.Message, "Rank 0 was not prepared: "))
	is.True(strings.Contains(doc.Message, "fulmen job logs "+string(m.job)+" --prepare --rank 0 shows")) // all of it
	m.free(p.Rank)

	fails = false
	p.Rank.Attempt = 2
	m.mustStart(p)
	doc = m.until(p.Rank, api.RankExited)
	is.Equal(doc.Exit.Status(), 0)
	is.Equal(doc.Versions, m.preparer.versions) // of after the preparation
	is.Equal(m.output(p.Rank), "/tmp\n")
	text, err := os.ReadFile(filepath.Join(m.ranks.rankFolder(p.Rank), api.PrepareFile))
	is.NoErr(err)
	is.Equal(string(text), "no such package\n")
}

func TestPreparingTakesTooLong(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t)
	m.preparer.resolve = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	m.boot()
	spec := m.spec("echo ran")
	spec.Deadlines.StartingS = new(float64)
	*spec.Deadlines.StartingS = 0.05
	p := m.params(spec)
	m.mustStart(p)
	is.Equal(m.until(p.Rank, api.RankExited).Reason, api.ReasonStartingTimeout)
	m.free(p.Rank)
}

// A lease that nobody renews ends a rank in whatever phase it is.
func TestLeases(t *testing.T) {
	t.Parallel()
	for name, prepares := range map[string]bool{"while it runs": false, "while it is prepared": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			m := newMac(t)
			if prepares {
				m.preparer.resolve = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
			}
			m.boot()
			p := m.params(m.spec(`echo 1; exec sleep 1000`))
			p.LeaseS = 60
			m.mustStart(p)
			if !prepares {
				m.until(p.Rank, api.RankRunning)
			}
			var live api.PeerRenewResult
			renewed := time.Now() // at the latest: the answer may take a while to be here
			is.NoErr(m.call("peer.renew", api.PeerRenewParams{Job: m.job, Attempt: 1, Epoch: 1, LeaseS: 1.5}, &live))
			is.Equal(live.Ranks, []int{0})
			doc := m.until(p.Rank, api.RankExited)
			is.Equal(doc.Reason, api.ReasonLeaseExpired)
			took := time.Since(renewed) // the renewed lease counted, and not the longer one before
			is.True(took >= 1400*time.Millisecond && took < 30*time.Second)
			m.free(p.Rank)
			is.NoErr(m.call("peer.renew", api.PeerRenewParams{Job: m.job, Attempt: 1, Epoch: 1, LeaseS: 2}, &live))
			is.Equal(live.Ranks, []int{})
		})
	}
}

// Whoever has heard of a newer home serves the former one no more.
func TestFormerHomes(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t).boot()
	p := m.params(m.spec(`exec sleep 1000`))
	m.mustStart(p)
	m.until(p.Rank, api.RankRunning)
	is.NoErr(m.call("peer.renew", api.PeerRenewParams{Job: m.job, Attempt: 1, Epoch: 3, LeaseS: 30}, &api.PeerRenewResult{}))
	is.True(isReason(m.call("peer.renew", api.PeerRenewParams{Job: m.job, Attempt: 1, Epoch: 2, LeaseS: 30}, nil), api.ReasonStaleEpoch))
	end := m.endParams(api.ReasonTakenOver, 0)
	is.True(isReason(m.call("peer.end", end, nil), api.ReasonStaleEpoch))
	m.boot() // which is remembered
	is.True(isReason(m.call("peer.end", end, nil), api.ReasonStaleEpoch))
	next := p
	next.Rank.Attempt, next.Epoch = 2, 3
	is.True(isReason(m.start(next), api.ReasonWaitingForRanks)) // no attempt beside a live one
	end.Epoch = 3
	m.mustEnd(end)
	is.Equal(m.until(p.Rank, api.RankExited).Reason, api.ReasonTakenOver)
}
