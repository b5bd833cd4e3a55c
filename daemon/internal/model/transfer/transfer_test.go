package transfer

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/files/wire"
	"fulmen/native/nativetest/testkit"
)

// TestTheSameTree: files of every form arrive as they are, and the second time nothing does.
func TestTheSameTree(t *testing.T) {
	is := is.New(t)
	from, to := newAccount(t).model(9<<20), newAccount(t)
	from.file("tokenizer/模型 Ünï/vocab.json", "{}", false)
	from.file("again/config.json", "", false) // an empty blob
	for _, name := range []string{"plain.bin", "deep/er/plain.txt", "deep/also.txt"} {
		from.write(from.cache(repo, "snapshots", revision, name), strings.Repeat("same", 3))
	}
	is.NoErr(os.Symlink(target("copy.bin", sum(safetensors(9<<20))), from.cache(repo, "snapshots", revision, "copy.bin")))
	from.write(from.cache(repo, "refs/pr/1"), revision)

	c := (&copying{from: from, to: to}).run()
	is.NoErr(c.err)
	is.NoErr(c.sendErr)
	is.Equal(to.tree(), from.tree())
	is.Equal(c.ready, 1)
	is.Equal(c.last.State, wire.ReportDone)
	is.Equal(c.last.Model.DoneBytes, c.last.Model.TotalBytes)
	is.Equal(c.last.Model.Verified, 8)
	is.True(c.received < 10<<20) // the blob that has two names came once
	m := to.described()
	is.True(*m.Complete)
	is.Equal(m.Refs, []string{"main", "pr/1"})

	c = (&copying{from: from, to: to}).run()
	is.NoErr(c.err)
	is.True(c.received < 4<<10)
	is.Equal(c.last.Model.Verified, 8)
	is.Equal(to.tree(), from.tree())
}

// TestWhatIsThereStays: a part of the snapshot, another revision's ref, another's blobs.
func TestWhatIsThereStays(t *testing.T) {
	is := is.New(t)
	from, to := newAccount(t).model(5<<20), newAccount(t)
	from.write(from.cache(repo, "snapshots", revision, "plain.bin"), "plain")
	to.file("config.json", config, false)
	to.file("other.txt", "theirs", false)
	other := strings.Repeat("f", 40)
	to.write(to.cache(repo, "refs/main"), other)
	link := to.cache(repo, "snapshots", revision, "model.safetensors")
	is.NoErr(os.Symlink("../../blobs/gone", link)) // a download that was cut by somebody's hand
	c := (&copying{from: from, to: to}).run()
	is.NoErr(c.err)
	content, err := os.ReadFile(to.cache(repo, "refs/main"))
	is.NoErr(err)
	is.Equal(string(content), other)
	m := to.described()
	is.True(*m.Complete)
	is.Equal(m.FileCount, 4)
	_, err = os.Lstat(to.cache(repo, stagingDir))
	is.True(os.IsNotExist(err))
}

// TestACutCopyGoesOn: at whatever byte it is cut, what has arrived does not come again.
func TestACutCopyGoesOn(t *testing.T) {
	is := is.New(t)
	random := testkit.Fixed(t, 7).Source(1)
	from, to := newAccount(t).model(22<<20), newAccount(t)
	from.write(from.cache(repo, "snapshots", revision, "plain.bin"), safetensors(5<<20))
	total, runs := 0, 0
	for {
		c := &copying{from: from, to: to, isCut: true, after: 5<<20 + random.IntN(5<<20)}
		c.run()
		total, runs = total+c.received, runs+1
		if c.err == nil {
			break
		}
		is.Equal(c.reason(), api.ReasonModelNotCopied)
		is.True(contains(c.last.Error.Message, "The connection ended"))
		is.True(c.sendErr != nil)
		is.True(!*to.describedOr(t).Complete)
		is.True(runs < 20)
	}
	is.True(runs > 2)
	is.True(total < 28<<20+(runs-1)*(chunkBytes*3/2)) // what was half a chunk, and lists
	is.Equal(to.tree(), from.tree())
}

// describedOr is an incomplete model where there is no snapshot yet.
func (a account) describedOr(t testing.TB) api.Model {
	t.Helper()
	if _, err := os.Stat(a.cache(repo, "snapshots", revision)); err != nil {
		no := false
		return api.Model{Complete: &no}
	}
	return a.described()
}

// TestAWrongRemainderIsFetchedAgain: what an earlier copy left need not be right.
func TestAWrongRemainderIsFetchedAgain(t *testing.T) {
	is := is.New(t)
	from, to := newAccount(t).model(9<<20), newAccount(t)
	weights := safetensors(9 << 20)
	at := to.cache(repo, "blobs", sum(weights)+partialSuffix)
	for _, remainder := range []string{strings.Repeat("x", 5<<20), strings.Repeat("x", len(weights)), weights[:len(weights)-1] + "y", weights + "more"} {
		to.write(at, remainder)
		c := (&copying{from: from, to: to}).run()
		is.NoErr(c.err)
		is.Equal(c.last.Model.DoneBytes, c.last.Model.TotalBytes)
		is.Equal(to.tree(), from.tree())
		is.NoErr(os.RemoveAll(to.cache(repo)))
	}
	to.write(at, weights) // whole, but for its name
	c := (&copying{from: from, to: to}).run()
	is.NoErr(c.err)
	is.True(c.received < 4<<10)
}

// TestABlobThatIsNotWhatItsNameSays is not taken.
func TestABlobThatIsNotWhatItsNameSays(t *testing.T) {
	is := is.New(t)
	from, to := newAccount(t).model(1000), newAccount(t)
	from.write(from.cache(repo, "blobs", sum(safetensors(1000))), safetensors(1000)[:1027]+"y")
	c := (&copying{from: from, to: to}).run()
	is.Equal(c.reason(), api.ReasonModelCorrupt)
	is.True(contains(c.last.Error.Data.Remedy, "fulmen models verify org/name"))
	left, err := filepath.Glob(to.cache(repo, "blobs/*"))
	is.NoErr(err)
	is.Equal(len(left), 1) // the configuration
	_, err = os.Stat(to.cache(repo, "snapshots", revision))
	is.True(os.IsNotExist(err))
}

// TestAModelThatChanges: what is sent is what was listed, or nothing.
func TestAModelThatChanges(t *testing.T) {
	from := newAccount(t).model(22 << 20)
	at := from.cache(repo, "blobs", sum(safetensors(22<<20)))
	for name, change := range map[string]func() error{
		"written": func() error { return os.Chtimes(at, time.Time{}, time.Unix(1, 0)) },
		"shorter": func() error { return os.Truncate(at, 5<<20) },
		"longer":  func() error { return os.Truncate(at, 40<<20) },
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			to := newAccount(t)
			c := (&copying{from: from, to: to, after: 1 << 20, then: func() { is.NoErr(change()) }}).run()
			is.Equal(c.reason(), api.ReasonModelChanged)
			is.True(contains(c.last.Error.Message, "has changed while it was copied"))
			is.True(!*to.describedOr(t).Complete)
		})
	}
}

// TestWhatIsNotSent: models that are not whole, not of the Hub, not there.
func TestWhatIsNotSent(t *testing.T) {
	is := is.New(t)
	from, to := newAccount(t).model(100), newAccount(t)
	refused := func(sel api.ModelSelect) api.Reason {
		c := (&copying{from: from, to: to, sel: sel}).run()
		is.Equal(api.AsError(c.sendErr).Data.Reason, c.reason())
		is.True(c.last.Error.Message != "")
		return c.reason()
	}
	is.Equal(refused(api.ModelSelect{Model: "org/other"}), api.ReasonNoSuchModel)
	from.write(filepath.Join(from.home, ".lmstudio/models/a/b/config.json"), config)
	from.write(filepath.Join(from.home, ".lmstudio/models/a/b/model.safetensors"), safetensors(3))
	is.Equal(refused(api.ModelSelect{Model: "a/b"}), api.ReasonBadValue)
	is.NoErr(os.Remove(from.cache(repo, "blobs", sum(safetensors(100)))))
	is.Equal(refused(named), api.ReasonModelIncomplete)
	from.write(from.cache(repo, "blobs", sum(safetensors(100))), "not weights")
	is.Equal(refused(named), api.ReasonModelIncomplete)
	_, err := os.Stat(to.cache(repo))
	is.True(os.IsNotExist(err))
}

// TestADiskWithoutRoom: before anything is written, and in the middle.
func TestADiskWithoutRoom(t *testing.T) {
	is := is.New(t)
	from, to := newAccount(t).model(5<<20), newAccount(t)
	c := (&copying{from: from, to: to, alter: func(r *receiver) {
		r.freeBytes = func(string) (int64, error) { return reserveBytes + 1<<20, nil }
	}}).run()
	is.Equal(c.reason(), api.ReasonDiskFull)
	is.True(contains(c.last.Error.Message, "There is no room for org/name: 0.0 GB more are needed in "+to.cache()))
	is.Equal(to.tree(), map[string]string{".": "folder"})

	r := receiver{task: ReceiveTask{Places: to.places(), Model: named}}
	r.progress.TotalBytes, r.progress.DoneBytes = 3e9, 1e9
	full := r.failure(&os.PathError{Op: "write", Err: syscall.ENOSPC})
	is.Equal(full.Data.Reason, api.ReasonDiskFull)
	is.True(contains(full.Message, "2.0 GB more are needed"))
	is.Equal(r.failure(&os.PathError{Op: "open", Err: syscall.EROFS}).Data.Reason, api.ReasonPermissionDenied)
	same := r.failure(&wire.SameNameError{Path: "A", Other: "a"})
	is.True(contains(same.Message, `"A" and "a" are one name on this disk`))
}

// TestACacheThatCannotBeWritten fails before the sender is needed.
func TestACacheThatCannotBeWritten(t *testing.T) {
	is := is.New(t)
	from, to := newAccount(t).model(10), newAccount(t)
	to.write(filepath.Join(to.home, ".cache"), "a file")
	c := (&copying{from: from, to: to}).run()
	is.True(c.err != nil)
	is.Equal(c.ready, 0)
	is.Equal(c.last.State, wire.ReportFailed)
	if isRoot() {
		return // whom no mode of a folder stops
	}
	to = newAccount(t)
	is.NoErr(os.MkdirAll(to.cache(), 0o555))
	c = (&copying{from: from, to: to}).run()
	is.Equal(c.reason(), api.ReasonPermissionDenied)
	is.Equal(c.ready, 0)
}

// TestTwoAtOnce: the second one fails at once, and disturbs nothing.
func TestTwoAtOnce(t *testing.T) {
	is := is.New(t)
	from, to := newAccount(t).model(9<<20), newAccount(t)
	var second *copying
	first := (&copying{from: from, to: to, after: 1 << 20, then: func() { second = (&copying{from: from, to: to}).run() }}).run()
	is.NoErr(first.err)
	is.Equal(second.reason(), api.ReasonModelCopying)
	is.True(contains(second.last.Error.Message, "org/name is being copied to this Mac already"))
	is.Equal(to.tree(), from.tree())
}

// TestManySmallFiles: no file waits for the one before to be written.
func TestManySmallFiles(t *testing.T) {
	is := is.New(t)
	from, to := newAccount(t).model(100), newAccount(t)
	for n := range 2000 {
		from.file(fmt.Sprintf("f/%d/%d.txt", n%7, n), fmt.Sprint("content ", n), n%2 == 0)
	}
	c := (&copying{from: from, to: to}).run()
	is.NoErr(c.err)
	is.Equal(c.last.Model.Verified, 2002)
	is.Equal(to.tree(), from.tree())
}

// TestWhatAnotherModelHasIsNotFetched: equal blobs are taken on this Mac, and outlast the
// other model; what only looks like one is fetched.
func TestWhatAnotherModelHasIsNotFetched(t *testing.T) {
	is := is.New(t)
	from, to := newAccount(t).model(9<<20), newAccount(t)
	weights, other := safetensors(9<<20), "models--org--other"
	at := to.cache(other, "blobs", sum(weights))
	to.write(at, weights)
	to.write(to.cache(repo, "blobs", sum(weights)+partialSuffix), weights[:5<<20]) // of a copy that was cut
	c := (&copying{from: from, to: to}).run()
	is.NoErr(c.err)
	is.True(c.received < 4<<10)
	is.Equal(c.last.Model.DoneBytes, c.last.Model.TotalBytes)
	is.NoErr(os.RemoveAll(to.cache(other)))
	is.Equal(to.tree(), from.tree())
	is.NoErr(os.RemoveAll(to.cache(repo)))
	secret := filepath.Join(to.home, "secret")
	to.write(secret, weights)
	for name, make := range map[string]func(){
		"shorter":   func() { to.write(at, weights[:100]) },
		"a link":    func() { is.NoErr(os.Symlink(secret, at)) },
		"partial":   func() { to.write(at+hubPartialSuffix, weights) },
		"no folder": func() { is.NoErr(os.RemoveAll(to.cache(other, "blobs"))); to.write(to.cache(other, "blobs"), weights) },
	} {
		is.NoErr(os.RemoveAll(to.cache()))
		is.NoErr(os.MkdirAll(to.cache(other, "blobs"), 0o755))
		make()
		c := (&copying{from: from, to: to}).run()
		is.NoErr(c.err)
		if c.received < 9<<20 {
			t.Errorf("%s: only %d bytes came", name, c.received)
		}
		is.NoErr(os.RemoveAll(to.cache(other)))
		is.Equal(to.tree(), from.tree())
	}
}

// TestHuggingFaceTakesTheCopy: the real huggingface_hub finds the model without a network.
func TestHuggingFaceTakesTheCopy(t *testing.T) {
	is := is.New(t)
	packages, err := filepath.Abs("../../../../build/tools/mlxlm")
	is.NoErr(err)
	python, err := exec.LookPath("python3")
	if _, missing := os.Stat(filepath.Join(packages, "huggingface_hub")); missing != nil || err != nil {
		t.Skip("there is no huggingface_hub here; cmd/internal/deps/deps.sh mlxlm fetches it")
	}
	from, to := newAccount(t).model(70_000), newAccount(t)
	from.file("onnx/config.json", config+"\n", false)
	is.NoErr((&copying{from: from, to: to}).run().err)
	code := "from huggingface_hub import snapshot_download, scan_cache_dir; print(snapshot_download('org/name', local_files_only=True)); r, = scan_cache_dir().repos; print(r.repo_id, r.nb_files, scan_cache_dir().warnings)"
	c := exec.CommandContext(t.Context(), python, "-c", code)
	c.Env = []string{"HOME=" + to.home, "HF_HUB_DISABLE_TELEMETRY=1", "PYTHONPATH=" + packages, "PYTHONDONTWRITEBYTECODE=1", "PATH=" + os.Getenv("PATH")}
	out, err := c.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		t.Fatalf("%s", failed.Stderr)
	}
	is.NoErr(err)
	is.Equal(string(out), to.cache(repo, "snapshots", revision)+"\norg/name 3 []\n")
}
