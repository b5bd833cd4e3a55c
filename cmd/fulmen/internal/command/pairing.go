package command

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"fulmen/app/text"
	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// pairing is Add a Mac while it is open.
type pairing struct {
	*run
	client    *client.Client
	expires   time.Time
	triesLeft int
	members   map[api.NodeID]bool
	asked     map[api.NodeID]api.Pending
	began     bool // the first snapshot is known
}

func newPairing(r *run, c *client.Client, before api.ClusterPeersResult, open api.ClusterPairResult) *pairing {
	p := &pairing{run: r, client: c, expires: open.ExpiresAt.Time, triesLeft: open.TriesLeft, members: map[api.NodeID]bool{}, asked: map[api.NodeID]api.Pending{}}
	for _, m := range before.Members {
		p.members[m.Node] = true
	}
	return p
}

// follow tells what happens until a Mac has joined, the code does not count any
// more, or the context ends. It says whether the code ended by itself.
func (p *pairing) follow(ctx context.Context) (ended bool, err error) {
	watched, stop := context.WithCancel(ctx)
	defer stop()
	steps := steps(watched, p.client, api.KindPending, api.KindIdentity)
	expired := time.NewTimer(p.expires.Sub(p.Now()))
	defer expired.Stop()
	// The time that is left is announced by nobody; a person looks at it.
	second := time.NewTicker(time.Second)
	defer second.Stop()
	p.countdown()
	for {
		select {
		case <-ctx.Done():
			p.clear()
			return false, nil
		case <-expired.C:
			p.clear()
			return true, advised(api.Errorf(api.ReasonCodeExpired, "", "The code has expired: nobody typed it in time."),
				"For a new code: fulmen pair")
		case <-second.C:
			p.countdown()
		case s, more := <-steps:
			if !more {
				if ctx.Err() != nil {
					p.clear()
					return false, nil
				}
				return false, api.Errorf(api.ReasonNoDaemon, "", "The connection to the daemon was lost.")
			}
			if s.err != nil {
				p.clear()
				return false, s.err
			}
			if ended, err := p.take(ctx, s.event); ended || err != nil {
				p.clear()
				return ended, err
			}
			p.countdown()
		}
	}
}

// take tells what an event says, and whether it ended the code.
func (p *pairing) take(ctx context.Context, e client.Event) (ended bool, err error) {
	// What it calls itself: the daemon draws its list of names a moment later.
	called := map[api.NodeID]string{}
	for _, d := range e.Put {
		var identity api.Identity
		if d.Kind == api.KindIdentity && !p.members[d.Node] {
			_ = d.Decode(&identity) // then it has the name of the list
			called[d.Node] = identity.ShortName
		}
	}
	if len(called) > 0 {
		if joined, err := p.joined(ctx, called); joined || err != nil {
			return joined, err
		}
	}
	for _, now := range pendingOf(e.Put) {
		before, known := p.asked[now.Peer]
		p.asked[now.Peer] = now
		if !p.began {
			continue // it was there before
		}
		if words := p.happened(before, known, now); words != "" {
			p.clear()
			fmt.Fprintln(p.Err, text.Clean(words))
		}
		if p.triesLeft == 0 {
			return true, advised(api.Errorf(api.ReasonCodeUsedUp, "", "The code is no longer valid: too many wrong ones were tried."),
				"For a new code: fulmen pair")
		}
	}
	p.began = true
	return false, nil
}

// happened says in words what a Mac did.
func (p *pairing) happened(before api.Pending, known bool, now api.Pending) string {
	name := now.Name
	if name == "" {
		name = now.Peer.Display()
	}
	who := fmt.Sprintf("%s (%s)", name, show.Where(now))
	// Of a Mac that only asks, the tries are those of a code of its own.
	proved := before.State == api.PendingProving || now.State == api.PendingProving
	switch {
	case proved && now.TriesLeft < p.triesLeft:
		p.triesLeft = now.TriesLeft
		return fmt.Sprintf("%s tried a wrong code, %s.", who, show.TriesLeft(now.TriesLeft))
	case now.State == api.PendingProving && (!known || before.State != api.PendingProving):
		return who + " has sent a code, which is being checked."
	case now.State == api.PendingAsking && !known:
		return who + " asks."
	}
	return ""
}

// joined looks whether somebody joined, and says who.
func (p *pairing) joined(ctx context.Context, called map[api.NodeID]string) (bool, error) {
	now, err := client.Call[api.ClusterPeersResult](ctx, p.client, "cluster.peers", nil)
	if err != nil {
		return false, err
	}
	var fresh []api.Member
	for _, m := range now.Members {
		if !p.members[m.Node] && m.RemovedBy == "" {
			fresh = append(fresh, m)
		}
	}
	if len(fresh) == 0 {
		return false, nil
	}
	p.clear()
	if p.json {
		return true, text.JSONLine(p.Out, now)
	}
	for _, m := range fresh {
		if _, err := fmt.Fprintf(p.Out, "%s joined.\n", text.Clean(cmp.Or(called[m.Node], m.ShortName))); err != nil {
			return true, err
		}
	}
	_, err = fmt.Fprintln(p.Err, "See the cluster: fulmen peers. Let its people run jobs here: fulmen users map WHO ACCOUNT")
	return true, err
}

// countdown draws how long the code counts, where lines can be drawn over.
func (p *pairing) countdown() {
	if p.Terminal {
		left := max(0, p.expires.Sub(p.Now()).Truncate(time.Second))
		fmt.Fprintf(p.Err, "\r\x1b[K%d:%02d min left, %s", int(left.Minutes()), int(left.Seconds())%60, show.TriesLeft(p.triesLeft))
	}
}

// clear takes the countdown away.
func (p *pairing) clear() {
	if p.Terminal {
		fmt.Fprint(p.Err, "\r\x1b[K")
	}
}
