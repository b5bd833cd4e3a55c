package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/e2e/testcluster"
	"fulmen/native/sim/remote"
	"fulmen/native/sim/scenario"
)

// blow is something that a storm does to a cluster.
type blow string

// The blows. Those of a Mac's whole daemon, or its surroundings, come first; then those
// of one rank's processes.
const (
	blowKill   blow = "kill"   // of the daemon, that stays away
	blowFreeze blow = "freeze" // of the daemon
	blowSleep  blow = "sleep"  // of all that the Mac runs for jobs
	blowCut    blow = "cut"    // of all that joins the Mac with others
	blowFill   blow = "fill"   // of its disk
	blowDamage blow = "damage" // of its database, under the daemon
	blowShim   blow = "shim"   // is killed, as are the next two
	blowGuard  blow = "guard"
	blowRank   blow = "rank"
)

// deed is what was done, and to what.
type deed struct {
	blow  blow
	node  *testcluster.Node
	ref   api.RankRef // of the last three
	after time.Duration
	lasts time.Duration
}

func (d deed) String() string {
	if d.ref != (api.RankRef{}) {
		return fmt.Sprintf("%s of %s on %s, killed after %v", d.blow, d.ref, d.node.Mac, d.after)
	}
	return fmt.Sprintf("%s of %s after %v for %v", d.blow, d.node.Mac, d.after, d.lasts)
}

// happens does things to the cluster, and undoes them when each has lasted.
func (s *storm) happens(t *testing.T, kinds []blow) {
	t.Helper()
	type turn struct {
		at time.Duration
		do func()
	}
	var turns []turn
	next := func() { slices.SortFunc(turns, func(a, b turn) int { return int(a.at - b.at) }) }
	free := s.random.Perm(len(s.Nodes)) // one blow at a Mac in a round
	for i, kind := range kinds {
		if kind == blowCut && slices.Contains(kinds[:i], kind) {
			continue // two Macs that are cut off share a cable
		}
		d := deed{blow: kind, after: s.anytime(s.work / 2)}
		if s.random.IntN(2) == 0 {
			d.after /= 20
		}
		d.lasts = s.anytime(s.longest)
		switch kind {
		case blowShim, blowGuard, blowRank:
			d.lasts = 0
		case blowKill:
			d.lasts *= time.Duration(s.random.IntN(2)) // or it is started again at once
			fallthrough
		default:
			of := 0
			if kind == blowFill {
				of = slices.Index(free, 1)
			}
			if len(free) == 0 || of < 0 || kind == blowFill && s.small == nil {
				continue
			}
			d.node = s.Nodes[free[of]]
			free = slices.Delete(free, of, of+1)
		}
		turns = append(turns, turn{d.after, func() {
			lift, done := s.does(t, &d)
			if !done {
				return
			}
			s.deeds = append(s.deeds, d)
			t.Log(d)
			at := d.after + d.lasts
			if d.blow == blowDamage {
				at = 2 * time.Hour // once all others are there
			}
			turns = append(turns, turn{at, lift})
			next()
		}})
	}
	next()
	for began := time.Now(); len(turns) > 0; {
		one := turns[0]
		if wait := one.at - time.Since(began); wait > 0 && one.at < time.Hour {
			<-time.After(wait)
		}
		turns = turns[1:]
		one.do()
	}
}

// does does one thing; false: there was nothing to do it to.
func (s *storm) does(t *testing.T, d *deed) (lift func(), done bool) {
	t.Helper()
	nothing := func() {}
	switch n := d.node; d.blow {
	case blowKill:
		n.End(syscall.SIGKILL)
		return func() { must(t, "a new start", n.Boot(t.Context())) }, true
	case blowFreeze, blowSleep:
		var pids []int
		if d.blow == blowSleep {
			for _, p := range s.parts(t) {
				if p.node == n {
					pids = append(pids, p.shim, p.guard, p.rank)
				}
			}
		}
		signal := func(which syscall.Signal) {
			must(t, "a signal", n.Signal(which))
			for _, pid := range pids {
				if pid != 0 {
					_ = syscall.Kill(pid, which) // it may have ended
				}
			}
		}
		signal(syscall.SIGSTOP)
		return func() { signal(syscall.SIGCONT) }, true
	case blowCut:
		return s.cuts(t, n), true
	case blowFill:
		return fill(t, n.Home), true
	case blowDamage:
		return s.damages(t, n), true
	}
	all := s.parts(t)
	if len(all) == 0 {
		return nil, false
	}
	p := all[s.random.IntN(len(all))]
	d.node, d.ref = p.node, p.ref
	pid := map[blow]int{blowShim: p.shim, blowGuard: p.guard, blowRank: p.rank}[d.blow]
	return nothing, pid != 0 && syscall.Kill(pid, syscall.SIGKILL) == nil
}

// cuts takes a Mac's cables out and its network away, and gives what puts all back.
func (s *storm) cuts(t *testing.T, n *testcluster.Node) (heal func()) {
	t.Helper()
	world, err := remote.Dial(t.Context(), s.Socket())
	must(t, "the world", err)
	changes := func(lines ...string) {
		t.Helper()
		for _, line := range lines {
			op, err := scenario.ParseOp(line)
			must(t, line, errors.Join(err, world.Apply(op)))
		}
	}
	lines := []string{"set " + n.Mac + ".en0.link down"}
	back := []string{"set " + n.Mac + ".en0.link up"}
	for _, cable := range [][2]string{{"studio-1.tb4", "studio-2.tb4"}, {"studio-1.tb5", "studio-3.tb5"}, {"studio-2.tb6", "studio-3.tb6"}} {
		if strings.HasPrefix(cable[0], n.Mac) || strings.HasPrefix(cable[1], n.Mac) {
			lines, back = append(lines, "unplug "+cable[0]), append(back, "plug "+cable[0]+" "+cable[1])
		}
	}
	changes(lines...)
	return func() {
		changes(back...)
		must(t, "leaving the world", world.Close())
	}
}

// damages cuts a Mac's database off, and gives what waits until the Mac has begun anew
// and joins it again.
func (s *storm) damages(t *testing.T, n *testcluster.Node) (joins func()) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(n.Home, "state", "simulated", "*", "*", api.StateFile))
	must(t, "the database", err)
	info, err := os.Stat(files[0])
	must(t, "the database", err)
	short := s.random.Int64N(info.Size())
	must(t, "the damage", os.Truncate(files[0], short))
	since := time.Now()
	return func() {
		eventually(t, "beginning of "+n.Mac+" anew", soon, func() bool {
			c, err := client.Dial(t.Context(), client.Options{Addresses: []client.Address{{Socket: n.Socket()}}})
			if err != nil {
				return false
			}
			// Whoever asks for conditions finds the damage, if nobody else has.
			_, _ = client.Call[api.NodeConditionsResult](t.Context(), c, "node.conditions", nil)
			info, err := client.Call[api.DaemonInfoResult](t.Context(), c, "daemon.info", nil)
			if err != nil || info.StartedAt.Before(since) {
				c.Close()
				if err == nil { // a write that was under way may have made the file as long as it was
					must(t, "the damage", os.Truncate(files[0], short))
				}
				return false
			}
			n.Client.Close()
			n.Client = c
			return true
		})
		// Others that still have it for a member may tell it so before.
		if members(t, n) <= 1 {
			others := slices.DeleteFunc(slices.Clone(s.Nodes), func(o *testcluster.Node) bool { return o == n })
			// Another may have lost its database as well.
			first := slices.MaxFunc(others, func(a, b *testcluster.Node) int { return members(t, a) - members(t, b) })
			must(t, "joining again", testcluster.Join(t.Context(), first.Client, first.ID, n.Client, s.Account.Name))
		}
		must(t, "lending again", testcluster.Lend(t.Context(), n.Client, s.Account.Name))
		aside, _ := filepath.Glob(files[0] + "*damaged*")
		for _, file := range aside {
			must(t, "room", os.Remove(file))
		}
	}
}

// members is how many are in a Mac's cluster, as far as it tells.
func members(t *testing.T, n *testcluster.Node) int {
	t.Helper()
	peers, err := client.Call[api.ClusterPeersResult](t.Context(), n.Client, "cluster.peers", nil)
	if err != nil {
		return 0
	}
	return len(peers.Members)
}

// part is what holds and is a rank on a Mac; 0: that is not there.
type part struct {
	node              *testcluster.Node
	ref               api.RankRef
	shim, guard, rank int
}

// parts are all that there are now, as the system tells, whichever daemons run.
func (j *jobs) parts(t *testing.T) (all []part) {
	t.Helper()
	table := processTable(t)
	byShim := map[int]int{} // its place in all
	for _, line := range table {
		id, args, _ := strings.Cut(strings.TrimSpace(line), " ")
		_, folder, isShim := strings.Cut(args, " shim ")
		pid, err := strconv.Atoi(id)
		of := strings.Split(folder, "/")
		if !isShim || err != nil || len(of) < 3 {
			continue
		}
		for _, n := range j.Nodes {
			attempt, _ := strconv.Atoi(of[len(of)-2])
			rank, _ := strconv.Atoi(of[len(of)-1])
			if strings.HasPrefix(folder, n.Home+"/") {
				byShim[pid] = len(all)
				all = append(all, part{node: n, ref: api.RankRef{Job: api.JobID(of[len(of)-3]), Attempt: attempt, Rank: rank}, shim: pid})
			}
		}
	}
	for _, line := range table {
		id, args, _ := strings.Cut(strings.TrimSpace(line), " ")
		pid, err := strconv.Atoi(id)
		if err != nil {
			continue
		}
		parent, found := parentOf(t, pid)
		if i, isPart := byShim[parent]; found && isPart {
			if strings.Contains(args, "FULMEN_SHIM=") {
				all[i].guard = pid
			} else {
				all[i].rank = pid
			}
		}
	}
	return all
}

// shims are the processes that hold ranks.
func (j *jobs) shims(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(processTable(t), func(line string) bool {
		return !strings.Contains(line, " shim "+j.Folder)
	})
}
