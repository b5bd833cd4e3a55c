package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/e2e/testcluster"
	"fulmen/daemon/internal/model/hub/hubtest"
	"fulmen/native/nativetest/testkit"
)

// hub gives a Mac a Hugging Face cache of its own, though all Macs are one machine.
func (j *jobs) hub(t *testing.T, n *testcluster.Node) string {
	t.Helper()
	at := filepath.Join(n.Home, "hub")
	must(t, "a cache", errors.Join(os.Mkdir(at, 0o755), j.Account.Owns(at)))
	text, err := json.Marshal(at)
	must(t, "its path", err)
	call[api.Empty](t, n.Client, "daemon.set_config", api.DaemonSetConfigParams{Set: map[string]json.RawMessage{"models.hub_cache": text}})
	return at
}

// hubModel writes a model of so many bytes into a cache, in the form of the cache.
func (j *jobs) hubModel(t *testing.T, hub, name, revision string, size int) {
	t.Helper()
	repository := filepath.Join(hub, "models--"+strings.ReplaceAll(name, "/", "--"))
	put := func(at string, data []byte) {
		at = filepath.Join(repository, at)
		must(t, "a folder", os.MkdirAll(filepath.Dir(at), 0o755))
		must(t, "a file", os.WriteFile(at, data, 0o644))
	}
	weights := bytes.Repeat([]byte("0123456789abcdef"), size/16)
	sum := sha256.Sum256(weights)
	blob := hex.EncodeToString(sum[:])
	put("blobs/"+blob, weights)
	put("refs/main", []byte(revision))
	put("snapshots/"+revision+"/config.json", []byte(`{"model_type":"llama"}`))
	must(t, "a link", os.Symlink("../../blobs/"+blob, filepath.Join(repository, "snapshots", revision, "model.gguf")))
	must(t, "giving it", filepath.WalkDir(repository, func(at string, _ os.DirEntry, err error) error { return errors.Join(err, j.Account.Owns(at)) }))
}

// TestModelsAreCopied from a Mac that shares them to one that wants them, as an account there.
func TestModelsAreCopied(t *testing.T) {
	t.Parallel()
	needJobs(t)
	is := is.New(t)
	j := newJobs(t, 2, "")
	here, there := j.Nodes[0], j.Nodes[1]
	hub := j.hub(t, here)
	const name, revision = "org/name", "08231374eeacb049a0eade7922910865b8fce912"
	j.hubModel(t, j.hub(t, there), name, revision, 20<<20)
	fulmen := func(args ...string) (string, error) {
		out, err := j.fulmen(t.Context(), here, args...).CombinedOutput()
		return string(out), err
	}
	out, err := fulmen("models", "copy", name, "--from", there.Mac)
	is.True(err != nil)
	is.True(strings.Contains(out, "fulmen sharing set models=mapped"))
	call[api.Sharing](t, there.Client, "cluster.set_sharing", api.ClusterSetSharingParams{Models: api.ModelsMapped})
	out, err = fulmen("models", "copy", name, "--from", there.Mac)
	t.Log(out)
	is.NoErr(err)
	is.True(strings.Contains(out, "2 files of org/name copied from "+there.Mac+" to "+here.Mac))
	at := filepath.Join(hub, "models--org--name")
	data, err := os.ReadFile(filepath.Join(at, "snapshots", revision, "model.gguf"))
	is.NoErr(err)
	is.Equal(len(data), 20<<20)
	ref, err := os.ReadFile(filepath.Join(at, "refs", "main"))
	is.NoErr(err)
	is.Equal(string(ref), revision)
	out, err = fulmen("models", "--wide")
	is.NoErr(err)
	is.Equal(strings.Count(out, "complete"), 2) // a column a Mac
	j.hubModel(t, hub, "org/second", revision, 1<<20)
	call[api.Sharing](t, here.Client, "cluster.set_sharing", api.ClusterSetSharingParams{Models: api.ModelsMapped})
	out, err = fulmen("models", "copy", "org/second", "--to", there.Mac)
	t.Log(out)
	is.NoErr(err)
	_, err = os.Stat(filepath.Join(there.Home, "hub", "models--org--second", "snapshots", revision, "model.gguf"))
	is.NoErr(err)
	// A job gets it first.
	j.hubModel(t, filepath.Join(there.Home, "hub"), "org/third", revision, 1<<20)
	job := []string{"--model", "org/third", "--fetch", "--nodes", here.Mac, "--ranks", "1"}
	out, err = fulmen(append(append([]string{"plan"}, job...), "--", "true")...)
	is.NoErr(err)
	is.True(strings.Contains(out, "copied to "+here.Mac+" from "+there.Mac+" first"))
	out, err = fulmen(append(append([]string{"run"}, job...), "--", "/bin/sh", "-c", `wc -c < "$FULMEN_MODEL/model.gguf"`)...)
	t.Log(out)
	is.NoErr(err)
	is.True(strings.Contains(out, "1048576"))
	out, err = fulmen("models", "copy", "org/other", "--from", there.Mac)
	is.Equal(errExit(err), api.ExitFailed)
	is.True(strings.Contains(out, "no such model"))
}

func errExit(err error) int {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	return 0
}

// TestModelCopiesSurviveKills: whoever is killed in the middle of a copy, nothing half is ever
// under a final name, and the last copy makes both caches the same.
func TestModelCopiesSurviveKills(t *testing.T) {
	t.Parallel()
	needJobs(t)
	is := is.New(t)
	rounds := 3
	if os.Getenv("FULMEN_SOAK") != "" {
		rounds = 100
	}
	random := testkit.Fixed(t, 11).Source(1)
	j := newJobs(t, 2, "")
	here, there := j.Nodes[0], j.Nodes[1]
	to, from := j.hub(t, here), j.hub(t, there)
	const size = 96 << 20
	j.hubModel(t, from, "org/name", "08231374eeacb049a0eade7922910865b8fce912", size)
	call[api.Sharing](t, there.Client, "cluster.set_sharing", api.ClusterSetSharingParams{Models: api.ModelsMapped})
	for round := range rounds {
		must(t, "an empty cache", os.RemoveAll(filepath.Join(to, "models--org--name"))) // each begins from nothing
		after := random.Int64N(size)
		run := j.fulmen(t.Context(), here, "models", "copy", "org/name", "--from", there.Mac)
		must(t, "a copy", run.Start())
		ended := make(chan error, 1)
		go func() { ended <- run.Wait() }()
		isOver := false
		eventually(t, "a part of the copy", soon, func() bool {
			select {
			case err := <-ended:
				is.NoErr(err)
				isOver = true
			default:
			}
			return isOver || size-lacking(to, size) >= after
		})
		if isOver {
			continue // it was faster
		}
		victim := [...]*testcluster.Node{nil, here, there}[random.IntN(3)]
		if victim == nil {
			_ = run.Process.Kill()
		} else {
			victim.End(syscall.SIGKILL)
		}
		<-ended
		for _, blob := range blobs(t, to) {
			data, err := os.ReadFile(blob)
			is.NoErr(err)
			sum := sha256.Sum256(data)
			is.Equal(hex.EncodeToString(sum[:]), filepath.Base(blob))
		}
		if victim != nil {
			ctx, cancel := context.WithTimeout(t.Context(), timeout)
			must(t, "to boot", victim.Boot(ctx))
			must(t, "the cluster", j.Whole(ctx))
			cancel()
		}
		t.Logf("round %d: cut after %d MB, by %v", round, after>>20, victim != nil)
		var out []byte
		eventually(t, "the next copy", soon, func() bool { // the cut one may hold its lock for a moment
			var err error
			out, err = j.fulmen(t.Context(), here, "models", "copy", "org/name", "--from", there.Mac).CombinedOutput()
			return err == nil
		})
		is.True(bytes.Contains(out, []byte("2 files of org/name copied")))
		diff, err := exec.Command("diff", "-r", "--no-dereference", from, to, "--exclude=.locks").CombinedOutput()
		is.Equal(string(diff), "")
		is.NoErr(err)
	}
}

// TestModelsAreCopiedInAChain: three Macs get the same, each from the one before; where one in
// the middle dies, those around it still do.
func TestModelsAreCopiedInAChain(t *testing.T) {
	t.Parallel()
	needJobs(t)
	is := is.New(t)
	j := newJobs(t, 4, "")
	var hubs []string
	for _, n := range j.Nodes {
		hubs = append(hubs, j.hub(t, n))
		call[api.Sharing](t, n.Client, "cluster.set_sharing", api.ClusterSetSharingParams{Models: api.ModelsMapped})
	}
	const size = 48 << 20
	j.hubModel(t, hubs[0], "org/name", "08231374eeacb049a0eade7922910865b8fce912", size)
	chain := []string{"models", "copy", "org/name", "--json", "--to", j.Nodes[1].Mac + "," + j.Nodes[2].Mac + "," + j.Nodes[3].Mac}
	sources := func(out []byte) (from []api.NodeID) {
		var done struct {
			Copies []api.ModelCopyStarted `json:"copies"`
		}
		must(t, "the copies", json.Unmarshal(out, &done))
		for _, c := range done.Copies {
			from = append(from, c.Node)
		}
		return from
	}
	same := func(i int) {
		t.Helper()
		diff, err := exec.Command("diff", "-r", "--no-dereference", hubs[0], hubs[i], "--exclude=.locks").CombinedOutput()
		is.Equal(string(diff), "")
		is.NoErr(err)
	}
	run := j.fulmen(t.Context(), j.Nodes[0], chain...)
	run.Stderr = os.Stderr
	out, err := run.Output()
	is.NoErr(err)
	is.Equal(sources(out), []api.NodeID{j.Nodes[0].ID, j.Nodes[1].ID, j.Nodes[2].ID})
	for i := 1; i < 4; i++ {
		same(i)
		must(t, "an empty cache", os.RemoveAll(filepath.Join(hubs[i], "models--org--name")))
	}
	run = j.fulmen(t.Context(), j.Nodes[0], chain...)
	must(t, "a copy", run.Start())
	eventually(t, "a part at the last one", soon, func() bool { return lacking(hubs[3], size) < size })
	j.Nodes[2].End(syscall.SIGKILL)
	if err := run.Wait(); err == nil {
		same(2) // it was faster
	}
	same(1)
	same(3)
}

// blobs are those of a cache that are whole, by their names.
func blobs(t *testing.T, hub string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(hub, "*", "blobs", "*"))
	must(t, "the blobs", err)
	return slices.DeleteFunc(all, func(at string) bool { return strings.Contains(filepath.Base(at), ".") })
}

// lacking is how much of the largest file of a cache has not arrived.
func lacking(hub string, size int64) int64 {
	all, _ := filepath.Glob(filepath.Join(hub, "*", "blobs", "*")) // the pattern is right
	for _, at := range all {
		if info, err := os.Stat(at); err == nil {
			size = min(size, size-info.Size())
		}
	}
	return max(0, size)
}

// TestModelsAreGot from Hugging Face by one Mac for another, which copies it on, and the
// token of the account there is in no log and no argument.
func TestModelsAreGot(t *testing.T) {
	t.Parallel()
	needJobs(t)
	is := is.New(t)
	j := newJobs(t, 2, "")
	here, there := j.Nodes[0], j.Nodes[1]
	hubs := []string{j.hub(t, here), j.hub(t, there)}
	const token = "hf_aSecretOfThatAccount"
	h := hubtest.New(t)
	h.Gated, h.Token = true, token
	h.Models["org/name"] = hubtest.Model{"config.json": `{"model_type":"llama"}`, "model.gguf": strings.Repeat("0123456789abcdef", 1<<16)}
	for _, n := range []*testcluster.Node{here, there} {
		environment := []string{}
		if n == there {
			environment = append(environment, "HF_TOKEN="+token)
		}
		python, err := json.Marshal(h.Python(t, n.Home, environment...))
		is.NoErr(err)
		call[api.Empty](t, n.Client, "daemon.set_config", api.DaemonSetConfigParams{Set: map[string]json.RawMessage{"models.python": python}})
	}
	call[api.Sharing](t, there.Client, "cluster.set_sharing", api.ClusterSetSharingParams{Models: api.ModelsMapped})
	out, err := j.fulmen(t.Context(), here, "models", "get", "org/name", "--all").CombinedOutput()
	t.Log(string(out))
	is.NoErr(err)
	// There is no token here, so the other Mac is the first that can.
	is.True(strings.Contains(string(out), "2 files of org/name copied from Hugging Face to "+there.Mac))
	is.True(strings.Contains(string(out), "2 files of org/name copied from "+there.Mac+" to "+here.Mac))
	is.Equal(h.Sent(), int64(1<<20))
	for i, n := range []*testcluster.Node{here, there} {
		data, err := os.ReadFile(filepath.Join(hubs[i], "models--org--name", "snapshots", h.Commit, "model.gguf"))
		is.NoErr(err)
		is.Equal(len(data), 1<<20)
		is.True(!strings.Contains(n.Output.End(), token))
		is.NoErr(filepath.WalkDir(n.Home, func(at string, d os.DirEntry, err error) error { // logs, documents and the caches
			if err != nil || !d.Type().IsRegular() || d.Name() == "python-of-the-hub" {
				return err
			}
			data, err := os.ReadFile(at)
			is.True(!bytes.Contains(data, []byte(token)))
			return err
		}))
	}
	is.Equal(len(h.StorageTokens()), 0)
}
