package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/e2e/netns"
)

// testModelsOverCables copies a model from south to north over their two wires that carry
// traffic beside each other. One is pulled in the middle and plugged in again: the copy goes on
// over the other one, then over both.
func (j *jobs) testModelsOverCables(t *testing.T, l *lab) {
	is := is.New(t)
	const size, bytesPerS = 100 << 20, 30_000_000
	rate := func(bytesPerS uint64, ways ...string) {
		t.Helper()
		for _, h := range []*host{l.north, l.south} {
			for _, way := range ways {
				must(t, "a rate", h.SetRate(way, bytesPerS))
			}
		}
	}
	rate(bytesPerS, "lan0", "tb0", "tb1")
	to, from := j.hub(t, j.Nodes[0]), j.hub(t, j.Nodes[1])
	j.hubModel(t, from, "org/name", "08231374eeacb049a0eade7922910865b8fce912", size)
	call[api.Sharing](t, l.south.client, "cluster.set_sharing", api.ClusterSetSharingParams{Models: api.ModelsMapped})
	received := func(way string) int64 { return int64(l.north.received(t, way)) }
	lan, began := received("lan0"), time.Now()
	cables := func() int64 { return received("tb0") + received("tb1") }
	before := cables()
	run := j.asNorth(t, l, "models", "copy", "org/name", "--from", "south", "--json")
	run.Stderr = os.Stderr
	var out []byte
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		out, err = run.Output()
	}()
	arrived := func(atLeast int64) {
		t.Helper()
		eventually(t, "a part of the model", soon, func() bool { return size-lacking(to, size) >= atLeast })
	}
	arrived(size / 4)
	is.True(received("lan0")-lan > size/16)
	is.True(cables()-before > size/16)
	for _, n := range []*netns.Network{l.cables[0], l.cables[1]} {
		must(t, "a cable pulled", n.Pull(l.north.Space, l.south.Space))
	}
	arrived(size / 2)
	rate(bytesPerS/15, "lan0") // what is left takes it longer than it takes to find cables
	before = cables()
	for _, n := range []*netns.Network{l.cables[0], l.cables[1]} {
		must(t, "a cable plugged in", n.Replug(l.north.Space, l.south.Space))
	}
	eventually(t, "the cables again", timeout, func() bool { return cables()-before > 1<<20 })
	<-done
	is.NoErr(err)
	t.Logf("%d MB over the cables after they were plugged in, %v in all: %s", (cables()-before)>>20, time.Since(began), out)
	var copies struct {
		Copies []struct {
			Progress api.ModelProgress `json:"progress"`
		} `json:"copies"`
	}
	must(t, "the copies", json.Unmarshal(out, &copies))
	is.Equal(len(copies.Copies[0].Progress.Over), 2)
	diff, err := exec.Command("diff", "-r", "--no-dereference", from, to, "--exclude=.locks").CombinedOutput()
	is.Equal(string(diff), "")
	is.NoErr(err)
	must(t, "an empty cache", os.RemoveAll(filepath.Join(to, "models--org--name")))
}
