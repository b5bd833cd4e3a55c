package stall_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/stall"
	"fulmen/native"
	"fulmen/native/nativetest/testkit"
)

// step is what a rank did between two looks at it.
type step struct {
	ms, printed, file, faults, network, owes int64
	threads                                  map[uint64][2]int64 // user and system, in ms
}

// recording is what the ranks of a real program did, look by look.
type recording struct {
	name  string
	ranks [][]step
}

// recordings reads those that TestJobsGetOn in daemon/e2e has made.
func recordings(t *testing.T) (all []recording) {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatal("no recordings", err)
	}
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		r := recording{name: filepath.Base(path)}
		for lines := bufio.NewScanner(file); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "#") {
				continue
			}
			one, rank := step{threads: map[uint64][2]int64{}}, 0
			words := strings.Fields(lines.Text())
			n, err := fmt.Sscan(strings.Join(words[:7], " "), &rank, &one.ms, &one.printed, &one.file, &one.faults, &one.network, &one.owes)
			if n != 7 || err != nil || rank > len(r.ranks) {
				t.Fatalf("%s: %q: %v", path, lines.Text(), err)
			}
			for _, word := range words[7:] {
				var id uint64
				var user, system int64
				if _, err := fmt.Sscanf(word, "%d:%d,%d", &id, &user, &system); err != nil {
					t.Fatalf("%s: %q: %v", path, word, err)
				}
				one.threads[id] = [2]int64{user, system}
			}
			if rank == len(r.ranks) {
				r.ranks = append(r.ranks, nil)
			}
			r.ranks[rank] = append(r.ranks[rank], one)
		}
		_ = file.Close()
		all = append(all, r)
	}
	return all
}

// rank is one that does again what was recorded.
type rank struct {
	meter   stall.Meter
	reading stall.Reading
	network uint64
	known   map[uint64]int // where a thread is in the reading
}

func newRank(alone bool) *rank {
	r := &rank{known: map[uint64]int{}, network: 1 << 40}
	r.reading.At, r.reading.GPU, r.reading.NetworkBytes = time.Hour, -1, &r.network
	r.meter.Alone = alone
	return r
}

// does adds a step to what it has done; nobody looks yet.
func (r *rank) does(s step) {
	r.reading.At += time.Duration(s.ms) * time.Millisecond
	r.reading.Printed += s.printed
	r.reading.FileBytes += uint64(max(0, s.file))
	r.reading.Faults += uint64(max(0, s.faults))
	r.network += uint64(max(0, s.network))
	if r.reading.OwesFor = time.Duration(s.owes) * time.Millisecond; s.owes > 0 {
		r.reading.Owes = api.DebtRequest
	} else {
		r.reading.Owes = ""
	}
	for id, ms := range s.threads {
		k, isKnown := r.known[id]
		if !isKnown {
			k = len(r.reading.Threads)
			r.known[id] = k
			r.reading.Threads = append(r.reading.Threads, native.Thread{ID: id})
		}
		r.reading.Threads[k].User += time.Duration(ms[0]) * time.Millisecond
		r.reading.Threads[k].System += time.Duration(ms[1]) * time.Millisecond
	}
}

// look takes a reading as it is now.
func (r *rank) look() {
	now := r.reading
	now.Threads = append([]native.Thread(nil), now.Threads...)
	carried := r.network
	now.NetworkBytes = &carried
	r.meter.Take(now)
}

// judge decides as the ranks' home does, which asks them a moment after they were looked at.
func judge(ranks []*rank, later time.Duration) stall.Verdict {
	all := make([]*api.RankProgress, len(ranks))
	for i, r := range ranks {
		if p, isKnown := r.meter.Progress(i, r.reading.At+later); isKnown {
			all[i] = &p
		}
	}
	return stall.Judge(all)
}

// replay has ranks do what was recorded for so long, in pieces in any order, with looks left out
// and Macs that slept between them.
func replay(t *testing.T, r recording, random *rand.Rand, length time.Duration) (looks int) {
	ranks := make([]*rank, len(r.ranks))
	for i := range ranks {
		ranks[i] = newRank(len(r.ranks) == 1)
	}
	recorded := len(r.ranks[len(r.ranks)-1])
	var asks, slept time.Duration
	for spent := time.Duration(0); spent < length; {
		if random.IntN(20) == 0 {
			asleep := time.Duration(random.IntN(3600)) * time.Second
			slept += asleep
			for _, one := range ranks {
				one.reading.At += asleep
			}
		}
		from := random.IntN(recorded)
		for k := from; k < min(recorded, from+10+random.IntN(100)); k++ {
			for i, one := range ranks {
				one.does(r.ranks[i][k])
			}
			spent += time.Duration(r.ranks[0][k].ms) * time.Millisecond
			if random.IntN(15) == 0 {
				continue // the daemon is late
			}
			for _, one := range ranks {
				one.look()
			}
			if looks++; spent < asks {
				continue
			}
			v := judge(ranks, time.Duration(random.Float64()*float64(stall.Every)))
			if v.Stalled {
				t.Errorf("%s, step %d after %v: %+v", r.name, k, spent, v)
				return looks
			}
			asks = spent + 5*time.Second
			if v.Again > 0 {
				asks = min(asks, spent+v.Again)
			}
		}
	}
	return looks
}

// TestNoFalseAlarm replays what real programs did for a virtual day: nothing of it is taken for
// a stall. The soak replays a day of each.
func TestNoFalseAlarm(t *testing.T) {
	const day = 24 * time.Hour
	all := recordings(t)
	length := day / time.Duration(len(all))
	if os.Getenv("FULMEN_SOAK") != "" {
		length = day
	}
	seed, looks := testkit.Drawn(t), 0
	for i, r := range all {
		looks += replay(t, r, seed.Source(uint64(i)), length)
	}
	t.Logf("%v of %d programs: %d looks", length*time.Duration(len(all)), len(all), looks)
}

// What ranks do that never get on again: one asks its socket without a pause, one does nothing.
var (
	asking = step{ms: 50, threads: map[uint64][2]int64{3: {12, 18}}}
	hung   = step{ms: 50}
)

// TestWithinTenSeconds lets a group get on and then stop to, in each of the ways, wherever that is
// between two looks and two questions: it takes less than 10 s to be said, of the right rank.
func TestWithinTenSeconds(t *testing.T) {
	const most = 10 * time.Second
	busy := step{ms: 50, faults: 40, network: 5000, threads: map[uint64][2]int64{5: {30, 1}}}
	for name, c := range map[string]struct {
		then    [2]step
		halt    native.Halt
		owes    int // the rank that owes something; -1 = none
		suspect int
	}{
		"one is stopped":                {[2]step{asking, hung}, native.HaltStopped, -1, 1},
		"one is in the kernel":          {[2]step{hung, hung}, native.HaltUninterruptible, -1, 1},
		"all wait":                      {[2]step{asking, asking}, "", -1, -1},
		"one hangs, and another owes":   {[2]step{asking, hung}, "", 0, 1},
		"both do nothing, and one owes": {[2]step{hung, hung}, "", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			worst := time.Duration(0)
			for seed := range testkit.Upto(t, 60) {
				random := seed.Source(0)
				ranks := []*rank{newRank(false), newRank(false)}
				looks := []time.Duration{time.Duration(random.IntN(2000)) * time.Millisecond, time.Duration(random.IntN(2000)) * time.Millisecond}
				asks, begins := time.Duration(random.IntN(5000))*time.Millisecond, 20*time.Second+time.Duration(random.IntN(5000))*time.Millisecond
				for now := time.Duration(0); ; now += 50 * time.Millisecond {
					if now > begins+most {
						t.Fatalf("%v after it began nobody has said so", now-begins)
					}
					for i, one := range ranks {
						does := busy
						if now >= begins {
							does = c.then[i]
							if i == c.owes {
								does.owes = max(1, (now - begins).Milliseconds())
							}
							if i == 1 {
								one.reading.Halt = c.halt
							}
						}
						one.does(does)
						if now >= looks[i] {
							looks[i] = now + stall.Every
							one.look()
						}
					}
					if now < asks {
						continue
					}
					v := judge(ranks, 0)
					if v.Stalled {
						is.True(now >= begins)
						is.Equal(v.Suspect, c.suspect)
						worst = max(worst, now-begins)
						break
					}
					asks = now + 5*time.Second
					if v.Again > 0 {
						asks = min(asks, now+v.Again)
					}
				}
			}
			t.Logf("at most %v", worst)
		})
	}
}

// Over RDMA a rank that computes looks as one that waits: only stacks tell, and they are asked for.
func TestPolling(t *testing.T) {
	is := is.New(t)
	polls := step{ms: 2000, threads: map[uint64][2]int64{3: {1900, 10}}}
	ranks := []*rank{newRank(false), newRank(false)}
	look := func(times int) stall.Verdict {
		for range times {
			for _, r := range ranks {
				r.meter.Polls = true
				r.does(polls)
				r.look()
			}
		}
		return judge(ranks, 0)
	}
	v := look(5)
	is.True(!v.Stalled)
	is.Equal(v.Stacks, []int{0, 1})
	p, _ := ranks[0].meter.Progress(0, ranks[0].reading.At)
	is.Equal(p.Activity, api.RankUnknown)
	is.Equal(p.Unknown["gpu"], api.ReasonNotSupportedByPlatform)
	ranks[0].reading.Stack, ranks[1].reading.Stack = stall.StackCollective, stall.StackOutside
	is.True(!look(1).Stalled) // one is outside: it computes
	ranks[1].reading.Stack = stall.StackCollective
	is.True(!look(1).Stalled) // and has, until now
	is.True(look(4).Stalled)
	ranks[1].reading.GPU = 0.5
	is.True(!look(1).Stalled)
}

// A rank alone has nobody to wait for, what its Mac slept through says nothing of it, and a health
// check is no work.
func TestMeter(t *testing.T) {
	is := is.New(t)
	one := newRank(true)
	quiet := func() time.Duration { return one.meter.Quiet() }
	do := func(s step, times int) {
		for range times {
			s.ms = 2000
			one.does(s)
			one.look()
		}
	}
	do(step{threads: map[uint64][2]int64{3: {500, 700}}}, 4)
	is.Equal(quiet(), time.Duration(0)) // it forks, say
	check := step{network: 300, file: 1000, faults: 5, threads: map[uint64][2]int64{0: {5, 5}}}
	do(check, 3)
	is.Equal(quiet(), 6*time.Second)
	one.reading.At += time.Hour
	do(check, 1)
	is.Equal(quiet(), time.Duration(0))
	_, isKnown := one.meter.Progress(0, one.reading.At)
	is.True(!isKnown)
	for name, moves := range map[string]step{"prints": {printed: 1}, "reads": {file: 1 << 20}, "touches memory": {faults: 100}, "receives": {network: 1 << 20}} {
		do(check, 2)
		is.True(quiet() >= 4*time.Second)
		if do(moves, 1); quiet() != 0 {
			t.Error(name)
		}
	}
	do(check, 2)
	one.reading.Beat++
	do(check, 1)
	is.Equal(quiet(), time.Duration(0)) // it says so itself
	one.reading.Halt = native.HaltUninterruptible
	do(step{file: 1 << 20}, 5) // from a slow disk
	p, _ := one.meter.Progress(0, one.reading.At)
	is.Equal(p.HaltS, 0.0)
	do(hung, 2)
	p, _ = one.meter.Progress(0, one.reading.At)
	is.Equal(p.HaltS, 4.0)
	one.reading.Halt = ""
	do(check, 2)
	one.reading.NetworkShared = true
	do(step{network: 50 << 10}, 1)
	is.Equal(quiet(), 10*time.Second) // others' beats
}

// Where connections are not counted by themselves, ranks that meet again and again are known by
// what their other threads do meanwhile.
func TestIdlingOnAMac(t *testing.T) {
	is := is.New(t)
	ranks := []*rank{newRank(false), newRank(false)}
	look := func(s step) stall.Verdict {
		for range 5 {
			for _, r := range ranks {
				r.reading.NetworkShared, s.ms = true, 2000
				r.does(s)
				r.look()
			}
		}
		return judge(ranks, 0)
	}
	spins := [2]int64{300, 400}
	is.True(!look(step{threads: map[uint64][2]int64{3: spins, 0: {2, 0}}}).Stalled)
	is.True(look(step{threads: map[uint64][2]int64{3: spins}}).Stalled)
}
