package stall

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"fulmen/daemon/api"
)

const (
	// HaltLimit is for how long a rank may be stopped, traced or in the kernel, and QuietLimit
	// for how long nothing may move while something is owed or everybody waits. With a
	// reading every [Every] a verdict takes less than 10 s.
	HaltLimit, QuietLimit = 4 * time.Second, 5 * time.Second
	// Every is how often a rank is looked at.
	Every = 2 * time.Second
	// fresh is how old what a node said may be.
	fresh = 8 * time.Second
	// soon is the least time between two questions.
	soon = time.Second
)

// Verdict is what is known of a group.
type Verdict struct {
	// IsKnown says that all nodes have said something lately; else the verdict before stays.
	IsKnown bool
	// Stalled says that it does not get on.
	Stalled bool
	// Suspect is the rank for which it does not, or whose node is to be looked at; -1 where none
	// can be named.
	Suspect int
	// What is what was seen of the suspect, or with -1 of all, as a part of a sentence: "has
	// been stopped by a signal for 5 s".
	What string
	// Again is after what time the nodes are to be asked again; 0 = no sooner than otherwise.
	Again time.Duration
	// Stacks are the ranks whose stacks would say more.
	Stacks []int
	// IsIdle says that nothing moves and nothing is owed, so that it may wait for a request.
	IsIdle bool
}

// Judge decides of a group from what was said of each of its ranks, nil for nothing. What is
// longer ago than a few seconds does not count.
func Judge(ranks []*api.RankProgress) Verdict {
	v := Verdict{Suspect: -1}
	if len(ranks) == 0 || slices.ContainsFunc(ranks, func(p *api.RankProgress) bool { return p == nil || api.Seconds(p.AgeS) > fresh }) {
		return v
	}
	v.IsKnown = true
	if v.halted(ranks); v.Stalled {
		return v
	}
	quiet, isBusy, isUnknown := quietFor(ranks), false, false
	waiting, debtor := 0, -1
	for i, p := range ranks {
		isBusy = isBusy || p.Activity == api.RankComputing
		switch {
		case p.Activity == api.RankUnknown:
			isUnknown = true
			v.Stacks = append(v.Stacks, i)
		case p.Activity == api.RankWaiting:
			waiting++
		}
		if p.Owes != "" && (debtor < 0 || p.OwesS > ranks[debtor].OwesS) {
			debtor = i
		}
	}
	if isBusy {
		v.Stacks = nil
		return v
	}
	allWait := len(ranks) > 1 && waiting+len(v.Stacks) == len(ranks)
	if debtor < 0 && !allWait {
		v.IsIdle, v.Stacks = quiet >= QuietLimit && !isUnknown, nil
		return v
	}
	since := quiet
	if !allWait {
		since = min(since, api.Seconds(ranks[debtor].OwesS))
	}
	if since < QuietLimit {
		v.again(QuietLimit - since)
		if quiet < Every { // they get on as far as one can see
			v.Stacks = nil
		}
		return v
	}
	if isUnknown {
		v.again(soon)
		return v
	}
	v.Stalled, v.Again, v.Stacks = true, Every, nil // so that its end shows soon
	v.name(ranks, debtor, since)
	return v
}

// quietFor is for how long nothing of a group gets on. Ranks that do a little do so together
// where it is a collective; a single one may answer health checks.
func quietFor(ranks []*api.RankProgress) time.Duration {
	quiet, still := []float64{}, []float64{}
	for _, p := range ranks {
		quiet, still = append(quiet, p.QuietS), append(still, p.StillS)
	}
	least := slices.Min(quiet)
	if slices.Sort(still); len(still) > 1 {
		least = min(least, still[1])
	}
	return api.Seconds(least)
}

// halted looks for a rank that the system does not let go on.
func (v *Verdict) halted(ranks []*api.RankProgress) {
	for i, p := range ranks {
		if p.Halt == "" {
			continue
		}
		left := HaltLimit - api.Seconds(p.HaltS)
		if left > 0 {
			v.again(left)
			continue
		}
		what := map[api.RankHalt]string{
			api.RankHaltStopped:         "has been stopped by a signal for %s, and goes on at SIGCONT",
			api.RankHaltTraced:          "has been held for %s by a debugger, which has to let it go",
			api.RankHaltUninterruptible: "has waited in the kernel for %s, where no signal reaches it: a disk or a file system does not answer",
		}[p.Halt]
		v.Stalled, v.Again, v.Suspect, v.What = true, Every, i, fmt.Sprintf(cmp.Or(what, "has not been let go on by the system for %s"), whole(p.HaltS))
		return
	}
}

// name finds whom to suspect of a group that does not get on: the one rank of which the others
// wait, else the one that owes something.
func (v *Verdict) name(ranks []*api.RankProgress, debtor int, since time.Duration) {
	idle := slices.IndexFunc(ranks, func(p *api.RankProgress) bool { return p.Activity == api.RankIdle })
	waits := slices.ContainsFunc(ranks, func(p *api.RankProgress) bool { return p.Activity == api.RankWaiting })
	switch {
	case idle >= 0 && waits:
		v.Suspect, v.What = idle, "has done nothing for "+whole(ranks[idle].QuietS)+" while others wait for it"
	case idle < 0:
		v.What = "have been inside a collective for " + whole(since.Seconds()) + ", and nothing moves"
	default:
		v.Suspect = debtor
		v.What = "does nothing"
	}
	if debtor >= 0 {
		what := map[api.RankDebt]string{api.DebtRequest: "an answer to a request", api.DebtProbe: "an answer to a probe", api.DebtHeartbeat: "a heartbeat"}[ranks[debtor].Owes]
		v.What += fmt.Sprintf(", and rank %d has owed %s for %s", debtor, cmp.Or(what, "something"), whole(ranks[debtor].OwesS))
	}
}

// again asks again, a little after something can have come of it.
func (v *Verdict) again(after time.Duration) {
	after = max(after, soon)
	if v.Again == 0 || after < v.Again {
		v.Again = after
	}
}

func whole(seconds float64) string { return fmt.Sprintf("%.0f s", seconds) }

// collectives are what MLX's functions are called that a thread is in while it takes part in
// a collective: of JACCL, of the ring, and of what both are made of.
var collectives = []string{"MeshImpl", "RingImpl", "MeshGroup::", "RingGroup::", "poll_cq"}

// StackOf says what the text of a look at a process's stacks shows, as sample(1) of macOS
// prints it.
func StackOf(text string) Stack {
	_, graph, isThere := strings.Cut(text, "Call graph:")
	if !isThere {
		return ""
	}
	graph, _, _ = strings.Cut(graph, "Total number in stack") // libraries follow
	for _, name := range collectives {
		if strings.Contains(graph, name) {
			return StackCollective
		}
	}
	return StackOutside
}
