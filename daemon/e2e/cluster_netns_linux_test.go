package e2e

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// TestClusterOverNetworks makes a cluster of daemons that are as far apart as
// machines are, and takes their networks away.
func TestClusterOverNetworks(t *testing.T) {
	t.Parallel() // it mostly waits
	if testing.Short() {
		t.Skip("networks that are cut are noticed in 5 to 10 s")
	}
	l := newLab(t, "")
	for _, step := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"strangers are found", l.testFound},
		{"pairing", l.testPairing},
		{"every network is used", l.testPaths},
		{"one network is cut", l.testOneCut},
		{"a cable is pulled", l.testPulled},
		{"a node is cut off", l.testCutOff},
		{"a daemon is killed", l.testKilled},
		{"a stranger learns nothing", l.testNonMember},
		{"a member is removed", l.testRemoved},
		{"no secret is left lying about", l.testSecrets},
	} {
		if !t.Run(step.name, step.run) {
			t.FailNow() // the next step begins where this one ends
		}
	}
}

// A Mac that shows a code is seen by others on the LAN.
func (l *lab) testFound(t *testing.T) {
	for _, h := range l.all {
		nodes(t, h.Name, h.client, "node that is alone", soon, func(s sight) bool { return whole(s, []*host{h}) })
	}
	l.open(t)
	l.south.sees(t, l.north)
	l.west.sees(t, l.north)
}

// Each of the others types a code of its own, and all see all.
func (l *lab) testPairing(t *testing.T) {
	is := is.New(t)
	joined, err := l.south.join(l.north, l.codes[0])
	is.NoErr(err)
	is.Equal(len(joined.Members), 2)
	_, err = l.west.join(l.north, l.codes[0])
	is.True(err != nil) // a code counts once
	code := l.open(t)
	l.west.sees(t, l.north)
	joined, err = l.west.join(l.north, code)
	is.NoErr(err)
	is.Equal(len(joined.Members), 3)
	isWhole(t, soon, l.all...)
	for _, h := range l.all {
		hasIdentities(t, h, names(l.all...))
		peers := call[api.ClusterPeersResult](t, h.client, "cluster.peers", nil)
		is.Equal(peers.Cluster, joined.Cluster)
		is.Equal(len(peers.Members), 3)
	}
}

// Every interface carries something, though several are in one network by their
// addresses.
func (l *lab) testPaths(t *testing.T) {
	l.hasPaths(t, "path by every interface", soon)
	type end struct {
		*host
		way string
	}
	before := map[end]uint64{}
	for _, p := range l.pairs() {
		for _, way := range p.aWays {
			before[end{p.a, way}] = p.a.received(t, way)
		}
		for _, way := range p.bWay {
			before[end{p.b, way}] = p.b.received(t, way)
		}
	}
	for e, count := range before {
		eventually(t, "traffic that "+e.Name+" receives by "+e.way, soon, func() bool { return e.received(t, e.way) > count+500 })
	}
}

// Keys are for the daemon's account, and codes are nowhere: not in logs, though
// they tell everything, and not in what is stored.
func (l *lab) testSecrets(t *testing.T) {
	is := is.New(t)
	count := 0
	for _, h := range l.all {
		key, err := os.Stat(filepath.Join(h.folder, "state", "identity.key"))
		is.NoErr(err)
		is.Equal(key.Mode().Perm(), os.FileMode(0o600))
		err = filepath.WalkDir(h.folder, func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) || err == nil && !d.Type().IsRegular() {
				return nil // the daemons run on, and their files come and go
			}
			if err != nil {
				return err
			}
			text, err := os.ReadFile(path)
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			for _, code := range l.codes {
				for _, form := range []string{code, strings.ReplaceAll(code, "-", "")} {
					if bytes.Contains(bytes.ToUpper(text), []byte(strings.ToUpper(form))) {
						t.Errorf("%s holds a code", path)
					}
				}
			}
			count++
			return err
		})
		is.NoErr(err)
	}
	is.True(count > 3*len(l.all)) // key, database, log, configuration
}
