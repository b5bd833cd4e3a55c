package e2e

import (
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/e2e/hostile"
	"fulmen/daemon/e2e/testcluster"
	"fulmen/native/nativetest"
)

// attack is a cluster of daemons that run as root, on studio-1 to studio-3, and a
// member whose daemon does not run, studio-4, whose key a hostile program has. The
// victim's account is an ordinary one of studio-1, which lends nothing to anybody;
// studio-2 lends to all members as that account.
type attack struct {
	*stage
	*testcluster.Cluster
	network *hostile.Network
	cluster api.ClusterID
	// m is the hostile member.
	m *hostile.Member
	// victim is whom nobody but studio-1 may speak for, and job one of theirs that
	// runs there while all is tried.
	victim api.Principal
	job    api.JobID
	// clients are the local API of studio-1 as the victim and as another account.
	clients struct{ victim, other *client.Client }
}

// TestHostileMember attacks real daemons, as a member and as another account of the
// same machine. Each finding of an attack that once went through has a test of its
// own: C are the critical ones, H the high, M the medium and L the low.
func TestHostileMember(t *testing.T) {
	t.Parallel()
	needJobs(t)
	if os.Geteuid() != 0 {
		t.Skip("only root can be several accounts")
	}
	a := newAttack(t)
	a.job = a.submits(t, a.victimJob())
	a.runs(t, a.job)
	for _, test := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"C1 a preflight runs nothing", a.testPreflight},
		{"C2 nobody reads, types or stops", a.testOutput},
		{"H1 no values and no other home", a.testValues},
		{"H2 no folder", a.testFolder},
		{"M1 nobody ends a rank", a.testEnds},
		{"M2 no grant in another name", a.testGrants},
		{"M3 no cable of others", a.testCable},
		{"M4 a report names nobody", a.testReport},
		{"L3 nothing for a terminal", a.testEscapes},
		{"L4 no port of others", a.testPort},
		{"L6 no number that cannot be", a.testNumbers},
		{"H4 a link is for its account", a.testLink},
		{"the victim still rules", a.testVictim},
		{"H3 ended is ended", a.testReplay},
		{"every door", a.testMatrix},
		{"every method", a.testLocal},
		{"L2 silent sockets keep nobody out", a.testSilent},
		{"H5 L1 a flood", a.testFlood},
	} {
		t.Run(test.name, test.run)
	}
}

func newAttack(t *testing.T) *attack {
	s := newStage(t)
	s.buildFulmen()
	folder := filepath.Join(s.Folder, "desk")
	must(t, "a folder", os.Mkdir(folder, 0o711))
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	macs := []string{"studio-1", "studio-2", "studio-3", "studio-4"}
	d, err := testcluster.Start(ctx, testcluster.Options{Fulmend: s.Fulmend, Scenario: "mesh-4", Macs: macs, Folder: folder, Config: unhurried})
	a := &attack{stage: s, Cluster: d}
	endsWithTest(t, d)
	t.Cleanup(func() {
		if a.network != nil {
			a.network.Close()
		}
	})
	must(t, "a cluster", err)
	must(t, "to lend", testcluster.Lend(ctx, d.Nodes[1].Client, s.Account.Name))
	at := map[api.NodeID]netip.AddrPort{}
	for i, n := range d.Nodes {
		at[n.ID] = netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 168, 1, byte(11 + i)}), api.PeerPort)
		must(t, "opening the folder", os.Chmod(n.Home, 0o711)) // as where a daemon for all people has its socket
	}
	a.cluster = call[api.DaemonInfoResult](t, d.Nodes[0].Client, "daemon.info", nil).Cluster
	a.victim = api.Principal{User: s.Account.Name, Node: d.Nodes[0].ID}
	d.Nodes[3].End(syscall.SIGKILL)
	a.network, err = hostile.Open(ctx, d.Socket(), macs[3], at)
	must(t, "the network", err)
	a.m, err = a.network.Stolen(d.Nodes[3].Home, a.cluster)
	must(t, "the key of studio-4", err)
	a.clients.victim, a.clients.other = a.as(t, d.Nodes[0], int(s.Account.UID)), a.as(t, d.Nodes[0], other)
	must(t, "the roster", a.m.Learn(ctx, d.Nodes[0].ID))
	return a
}

// other is an account of nobody here but of the machine.
const other = 12345

// as is a client of a node's daemon as an account.
func (a *attack) as(t *testing.T, at *testcluster.Node, uid int) *client.Client {
	t.Helper()
	c, err := client.Dial(t.Context(), client.Options{Addresses: []client.Address{{Socket: nativetest.SocketAs(t, uid, at.Socket())}}})
	must(t, "a client", err)
	t.Cleanup(func() { c.Close() })
	return c
}
