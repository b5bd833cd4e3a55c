// Package hub gets a model from Hugging Face into the cache of an account. It is the program
// of the hidden subcommand `fulmend models-get`, which runs as this account.
//
// It speaks no protocol of the Hub itself: get.py does, by the huggingface_hub of a Python
// that the configuration names or of an environment that is made in the account's cache
// folder, from packages with known hashes. So the account's own token, proxies and mirrors
// count, and Fulmen has nothing to do with the token.
package hub

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/model/inventory"
	"fulmen/daemon/internal/model/transfer"
	"fulmen/daemon/internal/rank/files/wire"
	"fulmen/daemon/internal/rank/prepare/look"
	"fulmen/native"
)

// Command is the daemon's command that gets a model.
const Command = "models-get"

// Task is what the daemon gives its process.
type Task struct {
	// Places is where the account keeps models.
	Places inventory.Places `json:"places"`
	// Model is the repository, and a branch, tag or commit.
	Model api.ModelSelect `json:"model"`
	// Account is the name of the account.
	Account string `json:"account"`
	// Python is one that has huggingface_hub; empty = an environment of Fulmen's own.
	Python string `json:"python,omitempty"`
	// Environment is that of the account, as NAME=VALUE.
	Environment []string `json:"environment,omitempty"`
	// PauseS is how long it waits before it tries again the first time, in seconds.
	PauseS float64 `json:"pause_s"`
}

// Valid reports whether it names an account's places and a model.
func (t Task) Valid() bool { return path.IsAbs(t.Places.Home) && t.Model.Model != "" && t.PauseS >= 0 }

//go:embed get.py
var script string

// Get is the whole of `fulmend models-get`: it reads its own daemon's task and does it, or
// ends with its input. reports takes wire.Report lines; the last one is how it ended.
func Get(in io.Reader, reports io.Writer) error {
	clock, err := native.SystemClock()
	if err != nil {
		return err
	}
	g := &get{reporter: wire.NewReporter(reports, clock)}
	if err := g.run(in); err != nil {
		return errors.Join(err, g.reporter.Failed(g.failure(err)))
	}
	return g.reporter.Got(g.progress, g.public)
}

// get is one model that is got.
type get struct {
	reporter *wire.Reporter
	task     Task
	progress api.ModelProgress
	public   string   // the digest of the files, where no token was needed
	repo     *os.Root // whose list says that files arrive; nil while there is none
}

func (g *get) run(in io.Reader) (err error) {
	if g.task, err = wire.Expect[Task](wire.NewConn(in, nil), wire.Task); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, in) // nothing comes before whoever asked is gone
		cancel()
	}()
	if _, ok := inventory.RepositoryFolder(g.task.Model.Model); !ok {
		return api.Errorf(api.ReasonBadValue, "model", "%q is not the name of a repository of Hugging Face.", g.task.Model.Model).
			WithRemedy("Name it as the address of its page does, such as mlx-community/Llama-3.2-1B-Instruct-4bit.")
	}
	unlock, err := g.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if g.task.Python != "" {
		return g.download(ctx, g.task.Python, g.task.Environment)
	}
	for again := range 2 {
		python, err := g.environment(ctx, again > 0)
		if err != nil {
			return err
		}
		err = g.download(ctx, python, withoutPython(g.task.Environment))
		if !errors.Is(err, errNoHub) {
			return err
		}
	}
	return errNoHub
}

// lock keeps the model's folder from other copies.
func (g *get) lock() (unlock func(), err error) {
	at := g.task.Places.HubFolder()
	if at == "" {
		return nil, api.Errorf(api.ReasonBadValue, "HF_HUB_CACHE", "Hugging Face's cache is not at an absolute path.").
			WithRemedy("Set HF_HUB_CACHE or HF_HOME to an absolute path.")
	}
	if err := os.MkdirAll(at, 0o755); err != nil {
		return nil, err
	}
	cache, err := os.OpenRoot(at)
	if err != nil {
		return nil, err
	}
	defer cache.Close()
	return inventory.Lock(cache, g.task.Model.Model)
}

// line is what get.py writes.
type line struct {
	Done       int64  `json:"done"`
	Total      int64  `json:"total"`
	Doing      string `json:"doing"`
	Verified   int    `json:"verified"`
	Unverified int    `json:"unverified"`
	Whole      bool   `json:"whole"`
	// Commit, with the refs that name it and the files, comes once.
	Commit string          `json:"commit"`
	Refs   []string        `json:"refs"`
	Files  []transfer.File `json:"files"`
	// Public says that no token is sent.
	Public bool `json:"public"`
	problem
}

// problem is why it stopped; see failure.
type problem struct {
	Word  string `json:"problem"`
	Text  string `json:"text"`
	Lacks int64  `json:"lacks"`
}

func (p *problem) Error() string { return p.Word + " " + p.Text }

// errNoHub is the end of a Python that has no huggingface_hub.
var errNoHub = errors.New("no huggingface_hub")

// maxLine bounds a line of get.py, and what it says on standard error.
const maxLine = 64 << 10

// download has a Python run get.py to its end.
func (g *get) download(ctx context.Context, python string, environment []string) error {
	task, err := json.Marshal(map[string]any{"repository": g.task.Model.Model, "revision": g.task.Model.Revision, "pause": g.task.PauseS})
	if err != nil {
		return err
	}
	c := command(ctx, python, append(environment, "HF_HUB_CACHE="+g.task.Places.HubFolder(), "HF_HUB_DISABLE_XET=1",
		"HF_HUB_ENABLE_HF_TRANSFER=0", "HF_HUB_DISABLE_PROGRESS_BARS=1", "HF_HUB_DISABLE_TELEMETRY=1"), "-c", script)
	complaints := look.Head{Limit: maxLine}
	c.Stderr = &complaints
	in, err := c.StdinPipe() // it ends when this does
	if err != nil {
		return err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return api.Errorf(api.ReasonInterpreterMissing, python, "%s could not be started%s.", python, native.ErrnoSuffix(err)).WithRemedy(namePython)
	}
	_, _ = in.Write(append(task, '\n')) // one that has ended has another reason
	var last line
	public := ""
	end := func() {}
	defer func() { end() }()
	for lines := look.Lines(out, maxLine); err == nil && lines.Scan(); {
		last = line{}
		switch err = json.Unmarshal(lines.Bytes(), &last); {
		case err == nil && last.Commit != "":
			end = g.announce(last)
			if last.Public {
				public = transfer.Digest(last.Files)
			}
		case err == nil && last.Word == "":
			if g.repo != nil && last.Done > g.progress.DoneBytes {
				transfer.Beat(g.repo, time.Now())
			}
			g.progress = api.ModelProgress{Revision: g.progress.Revision, DoneBytes: last.Done, TotalBytes: last.Total, Doing: last.Doing, Verified: last.Verified, Unverified: last.Unverified}
			err = g.reporter.Model(g.progress, false)
		}
	}
	in.Close()
	waited := c.Wait()
	switch {
	case last.Word == "no_hub":
		return errNoHub
	case last.Word != "":
		return &last.problem
	case last.Whole:
		g.public = public
		return nil
	}
	return cmp.Or(err, error(&problem{Word: "failed", Text: fmt.Sprintf("%s: %s", python, cmp.Or(lastLine(complaints.String()), fmt.Sprint(waited)))}))
}

// announce has what arrives sent on to other Macs meanwhile, where that can be. Its copies
// begin once the revision is known.
func (g *get) announce(l line) (end func()) {
	folder, _ := inventory.RepositoryFolder(g.task.Model.Model) // which was checked
	at := filepath.Join(g.task.Places.HubFolder(), folder)
	if err := os.MkdirAll(at, 0o755); err != nil {
		return func() {}
	}
	repo, err := os.OpenRoot(at)
	if err != nil {
		return func() {}
	}
	stop, err := transfer.Announce(repo, g.task.Model.Model, l.Commit, l.Refs, l.Files)
	if err != nil {
		repo.Close()
		return func() {}
	}
	g.progress.Revision, g.repo = l.Commit, repo
	return func() {
		g.repo = nil
		stop()
		repo.Close()
	}
}

// command is a program that ends with ctx.
func command(ctx context.Context, program string, environment []string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, program, args...)
	c.Env, c.Dir, c.WaitDelay = environment, "/", time.Second
	return c
}

// lastLine is the last of some lines that says anything.
func lastLine(text string) (last string) {
	for lines := bufio.NewScanner(bytes.NewBufferString(text)); lines.Scan(); {
		last = cmp.Or(lines.Text(), last)
	}
	return last
}
