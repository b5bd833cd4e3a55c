package hostile

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"io/fs"
	"net/netip"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/native"
	"fulmen/native/sim/remote"
)

// Network is a simulated network, by one Mac of it on which no daemon runs, and what
// the members who are there know.
type Network struct {
	sockets native.Sockets
	closers []func() error
	at      map[api.NodeID]netip.AddrPort

	mu     sync.Mutex
	roster *cluster.Roster
	inc    uint64
	seq    uint64
}

// Open goes to the network of a world as one of its Macs. Daemons maps the nodes whose
// daemons run to their addresses.
func Open(ctx context.Context, socket, mac string, daemons map[api.NodeID]netip.AddrPort) (*Network, error) {
	world, err := remote.Dial(ctx, socket)
	if err != nil {
		return nil, err
	}
	platform, err := world.Platform(mac)
	if err != nil {
		return nil, errors.Join(err, world.Close())
	}
	// Above all that a daemon of the same key wrote.
	return &Network{sockets: platform.Sockets, closers: []func() error{platform.Close, world.Close}, at: daemons, inc: 1 << 50}, nil
}

// Close leaves the network.
func (n *Network) Close() error {
	var errs []error
	for _, c := range n.closers {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}

// Roster is the cluster's, as it was read or changed last.
func (n *Network) Roster() *cluster.Roster {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.roster
}

// Heads are the roster's, as specs name them.
func (n *Network) Heads() []string {
	var heads []string
	for _, h := range n.Roster().Heads() {
		heads = append(heads, string(h))
	}
	return heads
}

// Stolen is a member with the key that a daemon keeps in its state folder.
func (n *Network) Stolen(home string, in api.ClusterID) (*Member, error) {
	var folder string
	err := filepath.WalkDir(home, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Base(path) == api.KeyFile {
			folder = filepath.Dir(path)
		}
		return nil // what goes meanwhile is none
	})
	if err != nil || folder == "" {
		return nil, errors.Join(err, fs.ErrNotExist)
	}
	opened, err := cluster.OpenIdentity(folder, "", time.Now())
	return &Member{Identity: opened.Identity, net: n, cluster: in}, err
}

// Invented is a node with a key of its own, made of a name, that is no member until
// one adds it.
func (n *Network) Invented(name string, in api.ClusterID) *Member {
	var run [8]byte
	rand.Read(run[:])
	seed := sha256.Sum256(append(run[:], name...))
	return &Member{Identity: cluster.NewIdentity(ed25519.NewKeyFromSeed(seed[:])), net: n, cluster: in}
}

// version is the network's next document, written in anybody's name.
func (n *Network) version() api.Version {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.seq++
	return api.Version{Inc: n.inc, Seq: n.seq}
}

// change makes another roster of the one that is known.
func (n *Network) change(f func(*cluster.Roster) (*cluster.Roster, error)) (added []cluster.SignedEntry, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	after, err := f(n.roster)
	if err != nil {
		return nil, err
	}
	var before []cluster.EntryHash
	if n.roster != nil {
		before = n.roster.Heads()
	}
	n.roster = after
	return slices.Clone(after.Missing(before)), nil
}
