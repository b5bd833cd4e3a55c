package hub

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/model/hub/hubtest"
	"fulmen/daemon/internal/model/inventory"
	"fulmen/daemon/internal/model/transfer"
	"fulmen/daemon/internal/rank/files/wire"
)

// rig is an account that gets models from a Hub.
type rig struct {
	*hubtest.Hub
	t    *testing.T
	task Task
	home string
}

func newRig(t *testing.T, environment ...string) *rig {
	hub, home := hubtest.New(t), t.TempDir()
	hub.Models["org/name"] = hubtest.Model{"config.json": `{"model_type":"llama"}`, "model.gguf": strings.Repeat("0123456789abcdef", 1<<18)}
	r := &rig{Hub: hub, t: t, home: home}
	r.task = Task{
		Places: inventory.Places{Home: home, HFHome: filepath.Join(home, "hf")}, Model: api.ModelSelect{Model: "org/name"}, Account: "ada",
		Environment: append([]string{"HOME=" + home, "HF_HOME=" + filepath.Join(home, "hf"), "PATH=" + os.Getenv("PATH")}, environment...), PauseS: 0.01,
	}
	return r
}

// run gets it, and gives the reports.
func (r *rig) run() (reports []wire.Report) {
	r.t.Helper()
	if r.task.Python == "" {
		r.task.Python = r.Python(r.t, r.home)
	}
	return r.runHere()
}

func (r *rig) runHere() (reports []wire.Report) {
	r.t.Helper()
	in, task := io.Pipe()
	from, to := io.Pipe()
	go func() {
		conn := wire.NewConn(nil, task)
		_, _ = conn.Send(wire.Task, r.task), conn.Flush() // the end of reading shows
	}()
	go func() {
		_ = Get(in, to) // as it has reported
		to.Close()
	}()
	for lines := bufio.NewScanner(from); lines.Scan(); {
		report, err := wire.Decode[wire.Report](lines.Bytes())
		if err != nil {
			r.t.Fatal(err)
		}
		reports = append(reports, report)
	}
	task.Close()
	return reports
}

// last is the last report, which is the only one that ends it.
func last(t *testing.T, reports []wire.Report) wire.Report {
	t.Helper()
	if len(reports) == 0 {
		t.Fatal("it reported nothing")
	}
	return reports[len(reports)-1]
}

func (r *rig) whole() api.ModelProgress {
	r.t.Helper()
	l := last(r.t, r.run())
	if l.State != wire.ReportDone {
		r.t.Fatalf("%+v %+v", l.Error, l.Error.Data)
	}
	return *l.Model
}

func (r *rig) failed() *api.Error {
	r.t.Helper()
	l := last(r.t, r.run())
	if l.State != wire.ReportFailed {
		r.t.Fatalf("%+v", l)
	}
	return l.Error
}

// TestGot: what was got is whole to Fulmen and to huggingface_hub, and nothing is sent twice.
func TestGot(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	r := newRig(t)
	p := r.whole()
	is.Equal(p, api.ModelProgress{Revision: r.Commit, DoneBytes: 4<<20 + 22, TotalBytes: 4<<20 + 22, Verified: 2})
	is.Equal(r.Sent(), int64(4<<20))
	models := inventory.Open(r.task.Places)
	defer models.Close()
	list := models.List()
	is.Equal(len(list.Models), 1)
	is.True(*list.Models[0].Complete)
	is.Equal(list.Models[0].Refs, []string{"main"})
	c := exec.CommandContext(t.Context(), r.task.Python, "-c", "import huggingface_hub as h; print(h.snapshot_download('org/name', local_files_only=True))")
	c.Env = append(r.task.Environment, "HF_HUB_OFFLINE=1")
	out, err := c.CombinedOutput()
	is.NoErr(err)
	is.Equal(strings.TrimSpace(string(out)), list.Models[0].Path)
	p = r.whole()
	is.Equal(p.Unverified, 1) // what lay there is not read again
	is.Equal(r.Sent(), int64(4<<20))
	r.task.Model.Revision = r.Commit
	r.whole()
}

// TestCutTransfers go on where they were, and so does the next process.
func TestCutTransfers(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	r := newRig(t)
	r.CutAfter, r.Cuts = 3<<20, 1
	r.whole()
	is.Equal(r.Sent(), int64(4<<20)) // each byte once

	r = newRig(t)
	r.CutAfter, r.Cuts = 0, 1000
	err := r.failed()
	is.Equal(err.Data.Reason, api.ReasonModelNotCopied)
	is.True(strings.Contains(err.Message, "The connection to Hugging Face broke"))
	is.Equal(err.Data.Remedy, keptRemedy)
	is.True(1000-r.Cuts >= 5)
}

// TestKilled: whoever asked is gone in the middle of a file, and so is its Python; the next
// one asks for the rest alone.
func TestKilled(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	r := newRig(t)
	r.CutAfter, r.Cuts, r.Hold = 3<<20, 1, make(chan struct{})
	r.task.Python = r.Python(t, r.home)
	in, task := io.Pipe()
	from, to := io.Pipe()
	go func() {
		conn := wire.NewConn(nil, task)
		_, _ = conn.Send(wire.Task, r.task), conn.Flush()
	}()
	ended := make(chan error, 1)
	go func() {
		ended <- Get(in, to)
		to.Close()
	}()
	for lines := bufio.NewScanner(from); lines.Scan(); {
		report, err := wire.Decode[wire.Report](lines.Bytes())
		is.NoErr(err)
		if report.Model != nil && report.Model.DoneBytes >= 3<<20 {
			task.Close()
		}
	}
	is.True(<-ended != nil)
	close(r.Hold)
	r.whole()
	is.Equal(r.Sent(), int64(4<<20))
}

// frame is a task as a process reads it, before what comes from in.
func frame(task any, in io.Reader) io.Reader {
	var b bytes.Buffer
	conn := wire.NewConn(nil, &b)
	_, _ = conn.Send(wire.Task, task), conn.Flush()
	return io.MultiReader(&b, in)
}

// TestSentOnWhileItArrives: another Mac copies what is here so far, and the rest as it arrives.
func TestSentOnWhileItArrives(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	r := newRig(t)
	r.CutAfter, r.Cuts, r.Hold = 3<<20, 1, make(chan struct{})
	r.task.Python = r.Python(t, r.home)
	from, to := io.Pipe()
	go func() {
		_ = Get(frame(r.task, neverEnds{}), to)
		to.Close()
	}()
	there, hold := inventory.Places{Home: t.TempDir()}, r.Hold
	isSent := make(chan error, 1)
	for lines := bufio.NewScanner(from); lines.Scan(); {
		report, err := wire.Decode[wire.Report](lines.Bytes())
		is.NoErr(err)
		if report.Model == nil || report.Model.DoneBytes < 3<<20 || hold == nil {
			continue
		}
		arrived := sync.OnceFunc(func() { close(r.Hold) }) // only then comes the rest
		hold = nil
		is.Equal(report.Model.Revision, r.Commit)
		asks, asked := io.Pipe()
		answers, answered := io.Pipe()
		go func() {
			_ = transfer.Send(frame(transfer.SendTask{Places: r.task.Places, Model: r.task.Model}, asks), answered)
			answered.Close()
		}()
		go func() {
			reports, reported := io.Pipe()
			go func() {
				for lines := bufio.NewScanner(reports); lines.Scan(); {
					if report, err := wire.Decode[wire.Report](lines.Bytes()); err == nil && report.Model != nil && report.Model.DoneBytes > 0 {
						arrived()
					}
				}
			}()
			isSent <- transfer.Receive(frame(transfer.ReceiveTask{Places: there, Model: r.task.Model}, answers), asked, reported)
		}()
	}
	is.NoErr(<-isSent)
	models := inventory.Open(there)
	defer models.Close()
	is.True(*models.List().Models[0].Complete)
	is.Equal(r.Sent(), int64(4<<20)) // once, by the Hub
}

// neverEnds is a caller that stays.
type neverEnds struct{}

func (neverEnds) Read([]byte) (int, error) { select {} }

// TestWhatTheHubRefuses is explained, each with what to do.
func TestWhatTheHubRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		set     func(*rig)
		reason  api.Reason
		message string
		remedy  string
	}{
		"gated":             {func(r *rig) { r.Gated, r.Token = true, "other" }, api.ReasonModelGated, "does not give org/name to ada", "hf auth login"},
		"no such model":     {func(r *rig) { r.task.Model.Model = "org/other" }, api.ReasonNoSuchModel, "has no model org/other", "Where it is private"},
		"a name of another": {func(r *rig) { r.task.Model.Model = "else/name" }, api.ReasonNoSuchModel, "has no model else/name", "Did you mean org/name?"},
		"no such revision":  {func(r *rig) { r.task.Model.Revision = "mian" }, api.ReasonNoSuchModel, `no revision "mian"`, "Did you mean main?"},
		"no repository":     {func(r *rig) { r.task.Model.Model = "../name" }, api.ReasonBadValue, "is not the name of a repository", "as the address of its page"},
		"always busy":       {func(r *rig) { r.Busy, r.RetryAfter = 1000, "0" }, api.ReasonModelNotCopied, "asked too often", keptRemedy},
		"out of order":      {func(r *rig) { r.Broken = 1000 }, api.ReasonModelNotCopied, "Hugging Face answered 502", keptRemedy},
		"other bytes":       {func(r *rig) { r.Wrong = "model.gguf" }, api.ReasonModelCorrupt, "model.gguf of org/name did not arrive", keptRemedy},
		"other small bytes": {func(r *rig) { r.Wrong = "config.json" }, api.ReasonModelCorrupt, "config.json of org/name did not arrive", keptRemedy},
		"no room":           {func(r *rig) { r.Larger = 1 << 60 }, api.ReasonDiskFull, "There is no room for org/name", "Free some space"},
		"no Hub":            {func(r *rig) { r.URL = "http://127.0.0.1:9" }, api.ReasonModelNotCopied, "The connection to Hugging Face broke", keptRemedy},
		"offline":           {func(r *rig) { r.task.Environment = append(r.task.Environment, "HF_HUB_OFFLINE=1") }, api.ReasonModelNotCopied, "HF_HUB_OFFLINE", "environment"},
		"no Python":         {func(r *rig) { r.task.Python = "/nowhere/python" }, api.ReasonInterpreterMissing, "could not be started", "models.python"},
		"not its folder":    {func(r *rig) { r.task.Places.HFHome = "/dev/null/hf" }, api.ReasonModelNotCopied, "could not be got", keptRemedy},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			r := newRig(t)
			c.set(r)
			err := r.failed()
			is.Equal(err.Data.Reason, c.reason)
			if !strings.Contains(err.Message, c.message) || !strings.Contains(err.Data.Remedy, c.remedy) {
				t.Fatalf("%s %s", err.Message, err.Data.Remedy)
			}
			left, _ := filepath.Glob(filepath.Join(r.home, "hf/hub/models--*/blobs/*"))
			switch c.reason {
			case api.ReasonModelCorrupt:
				is.True(!slices.ContainsFunc(left, func(at string) bool { data, err := os.ReadFile(at); return err != nil || data[0] == 'x' }))
			case api.ReasonDiskFull:
				is.Equal(len(left), 0)
			}
		})
	}
}

// TestWhatPasses: it waits as long as it was asked to, and reports so.
func TestWhatPasses(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	r := newRig(t)
	r.Busy, r.Broken, r.RetryAfter = 1, 1, "1"
	reports := r.run()
	is.Equal(last(t, reports).State, wire.ReportDone)
	is.True(slices.ContainsFunc(reports, func(report wire.Report) bool {
		return report.Model != nil && report.Model.Doing == "Hugging Face asks to wait 1 s"
	}))
}

// TestToken: the account's own token opens what is gated, and is nowhere but in requests to
// the Hub: not where large files lie, in no report, no argument and no file.
func TestToken(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	const token = "hf_aSecretOfAdaAlone"
	r := newRig(t, "HF_TOKEN="+token)
	r.Gated, r.Token = true, token
	arguments := filepath.Join(r.home, "arguments")
	inner := r.Python(t, r.home)
	r.task.Python = filepath.Join(r.home, "python")
	is.NoErr(os.WriteFile(r.task.Python, []byte("#!/bin/sh\nprintf '%s\\n' \"$@\" > "+arguments+"\nexec "+inner+` "$@"`+"\n"), 0o755))
	for _, report := range r.run() {
		if report.Model != nil {
			is.True(!strings.Contains(report.Model.Doing, token))
		}
		is.True(report.Error == nil)
	}
	is.Equal(len(r.StorageTokens()), 0)
	files := 0
	is.NoErr(filepath.WalkDir(r.home, func(at string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(at)
		is.True(!strings.Contains(string(data), token))
		files++
		return err
	}))
	is.True(files > 3)
}

// TestTwoAtOnce: the second is told that the model is being copied.
func TestTwoAtOnce(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	is.NoErr(os.MkdirAll(filepath.Join(r.home, "hf/hub"), 0o755))
	cache, err := os.OpenRoot(filepath.Join(r.home, "hf/hub"))
	is.NoErr(err)
	defer cache.Close()
	unlock, err := inventory.Lock(cache, "org/name")
	is.NoErr(err)
	defer unlock()
	is.Equal(r.failed().Data.Reason, api.ReasonModelCopying)
}
