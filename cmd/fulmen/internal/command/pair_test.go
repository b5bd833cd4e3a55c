package command

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// opened makes Add a Mac open for five minutes.
func (r *rig) opened() {
	r.daemon.Always("cluster.pair", api.ClusterPairResult{Code: "K7QM-3WXD", ExpiresAt: before(-5 * time.Minute), TriesLeft: 3})
}

// begin runs a command line beside the test.
func (r *rig) begin(args ...string) (cancel func(), status <-chan int) {
	ctx, stop := context.WithCancel(r.t.Context())
	r.t.Cleanup(stop)
	ended := make(chan int, 1)
	go func() { ended <- r.app.Run(ctx, args) }()
	return stop, ended
}

// asked waits until a Mac that asks is told of; it is so once the watch runs.
func (r *rig) asked(p api.Pending) {
	r.t.Helper()
	r.out.await(r.t, "K7QM-3WXD")
	r.daemon.Await("state.watch")
	r.daemon.Put(pendingDoc(r.t, p))
}

func TestPairTellsWhoTriesAndWhoJoins(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	r.opened()
	_, status := r.begin("pair")
	guest := api.Pending{Peer: guestID, Name: "guest\x1b[2J", State: api.PendingProving, TriesLeft: 3}
	r.asked(guest)
	r.err.await(t, "has sent a code, which is being checked.")
	guest.TriesLeft = 2
	r.daemon.Put(pendingDoc(t, guest))
	r.err.await(t, "tried a wrong code, 2 tries left.")
	guest = api.Pending{Peer: "nbkp2dvz7d7hy1ys", Name: "only-asks", State: api.PendingAsking} // its tries are of another code
	r.daemon.Put(pendingDoc(t, guest))
	r.err.await(t, "only-asks (unknown) asks.")

	fresh := append(roster3(), api.Member{Node: guestID, ShortName: "mac-b41p", AddedBy: studio, AddedAt: before(0)}) // its name is not drawn yet
	r.daemon.Always("cluster.peers", api.ClusterPeersResult{Cluster: clusterID, Members: fresh})
	r.daemon.Put(api.Document{Node: guestID, Kind: api.KindIdentity, Inc: 1, Seq: 1, At: before(0), Value: []byte(`{"short_name":"guest"}`)})
	is.Equal(<-status, 0)
	is.Equal(r.out.String(), "K7QM-3WXD\nguest joined.\n")
	is.True(!strings.ContainsRune(r.err.String(), '\x1b'))
	is.Equal(len(r.called("cluster.pair")), 1) // the code is used, and is not closed
}

func TestPairIsClosedByCtrlC(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	r.opened()
	stop, status := r.begin("pair")
	r.out.await(t, "K7QM-3WXD")
	stop()
	is.Equal(<-status, 0)
	is.Equal(r.called("cluster.pair"), []string{"{}", `{"close":true}`})
	is.Equal(r.err.String(), "Closed; the code is no longer valid.\n")
}

func TestPairEndsAfterTooManyWrongCodes(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	r.opened()
	_, status := r.begin("pair")
	r.asked(api.Pending{Peer: guestID, Name: "evil", State: api.PendingProving, TriesLeft: 0})
	is.Equal(<-status, 1)
	is.Equal(r.err.String(), "evil (unknown) tried a wrong code, no tries left.\n"+
		"fulmen: The code is no longer valid: too many wrong ones were tried.\n  For a new code: fulmen pair\n")
	is.Equal(len(r.called("cluster.pair")), 1)
}

func TestPairEndsInTime(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	r.daemon.Always("cluster.pair", api.ClusterPairResult{Code: "K7QM-3WXD", ExpiresAt: before(0), TriesLeft: 3})
	is.Equal(r.run("pair"), 1)
	is.True(strings.Contains(r.err.String(), "nobody typed it in time"))
}

func TestPairOnATerminal(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	r.app.Terminal, r.app.Screen = true, true
	r.opened()
	stop, status := r.begin("pair")
	r.err.await(t, "\r\x1b[K5:00 min left, 3 tries left")
	stop()
	is.Equal(<-status, 0)
	is.True(strings.Contains(r.out.String(), "█"))
	is.True(strings.Contains(r.out.String(), "\n  K7QM-3WXD\n"))
	is.True(strings.HasSuffix(r.err.String(), "\r\x1b[KClosed; the code is no longer valid.\n"))
}

func TestPairAnswers(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "k7qm 3wxd\n")
	r.daemon.Put(pendingDoc(t, api.Pending{Peer: mini, Name: "Mac mini", State: api.PendingAsking}))
	r.daemon.Always("cluster.answer", api.Empty{})
	is.Equal(r.run("pair", "--answer", "mac MINI", "--account", "ada"), 0)
	is.Equal(r.called("cluster.answer"), []string{`{"node":"axwfk1even66ca3j","code":"k7qm 3wxd","account":"ada"}`})
	is.Equal(r.out.String(), "Mac mini has joined the cluster. See: fulmen peers\n")
	is.Equal(r.run("pair", "--account", "ada"), 2) // there is nobody to lend to yet
}
