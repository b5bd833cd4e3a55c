package main

import (
	"bufio"
	"context"
	"errors"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/e2e/testcluster"
)

// rig is the app over a simulated cluster.
type rig struct {
	*testcluster.Cluster
	*menu
	stage *testcluster.Stage
	// events are what the app did outside of Fulmen, a line each: a dialog, a page
	// that was opened, a text that was copied.
	events chan string
	// answers is the file with what dialogs answer.
	answers string
	env     []string
	// ended is closed, with err, when the app has ended; quits says that it does so
	// by itself.
	ended chan struct{}
	err   error
	quits bool
}

// tools stand in for programs of a desktop, which would need a screen: questions
// answer with the next line of a file, and no where there is none, and everything
// is told to the test: a question once its answer was taken, which the next one's is
// then not, and what is copied once it is.
var tools = map[string]string{
	"zenity": `case $1 in --error|--info) tell; exit 0 ;; esac
answer=$(head -n 1 "$ANSWERS")
[ -z "$answer" ] || sed -i 1d "$ANSWERS"
tell
[ -n "$answer" ] && printf '%s\n' "$answer"
`,
	"xdg-open": "tell\n",
	"wl-copy":  "cat >\"$COPIED\"\ntell\n",
	"xclip":    "cat >\"$COPIED\"\ntell\n",
}

// newRig starts a cluster of Macs of testdata/desk.toml, a desktop and the app.
func newRig(t *testing.T, macs ...string) *rig {
	t.Helper()
	if testing.Short() {
		t.Skip("a cluster is paired first, and systray does not run under the race detector")
	}
	is := is.New(t)
	stage, err := testcluster.NewStage(filepath.Join("..", ".."))
	t.Cleanup(stage.Close)
	if errors.Is(err, testcluster.ErrNobody) {
		t.Skip(err)
	}
	is.NoErr(err)
	is.NoErr(stage.Build(t.Context(), "fulmen/cmd/fulmen-app", "fulmen/cmd/fulmend", "fulmen/cmd/fulmen-shim", "fulmen/cmd/fulmen"))
	b := newBus(t)
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	d, err := stage.Start(ctx, clusterScenario(t, stage), macs, "")
	t.Cleanup(d.Close)
	is.NoErr(err)

	r := &rig{Cluster: d, stage: stage, events: make(chan string, 1024), answers: filepath.Join(stage.Work, "answers"), ended: make(chan struct{})}
	r.env = append(r.tools(t), "HOME="+stage.Work, "DBUS_SESSION_BUS_ADDRESS="+b.address)
	app := r.app(context.Background())
	is.NoErr(app.Start())
	go func() { defer close(r.ended); r.err = app.Wait() }()
	t.Cleanup(func() {
		if !r.quits {
			_ = app.Process.Signal(syscall.SIGTERM) // it may have ended
		}
		<-r.ended
		if r.err != nil {
			t.Errorf("the app ended with %v", r.err)
		}
	})
	r.menu = b.appears(ctx)
	return r
}

// clusterScenario is testdata/desk.toml where any account may read it.
func clusterScenario(t *testing.T, stage *testcluster.Stage) string {
	t.Helper()
	scenario := filepath.Join(stage.Folder, "desk.toml")
	text, err := os.ReadFile("testdata/desk.toml")
	if err == nil {
		err = os.WriteFile(scenario, text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return scenario
}

// app is the program, as somebody at the desk's first Mac starts it.
func (r *rig) app(ctx context.Context, args ...string) *exec.Cmd {
	c := r.Nodes[0].Command(ctx, filepath.Join(r.stage.Bin, "fulmen-app"), args...)
	c.Env = append(c.Environ(), r.env...)
	c.Stdout, c.Stderr = os.Stderr, os.Stderr
	return c
}

// tools puts the stand-ins where the app finds them first, and gives its
// environment. They tell what they are called with through a pipe.
func (r *rig) tools(t *testing.T) []string {
	t.Helper()
	folder, pipe := filepath.Join(r.stage.Folder, "tools"), filepath.Join(r.stage.Work, "events")
	err := errors.Join(os.Mkdir(folder, 0o755), syscall.Mkfifo(pipe, 0o666), os.Chmod(pipe, 0o666), r.answer())
	for name, script := range tools {
		script = "#!/bin/sh\nwhat=$(printf '" + name + " %s' \"$*\" | tr '\\n' ' ')\ntell() { printf '%s\\n' \"$what\" >\"$EVENTS\"; }\n" + script
		err = errors.Join(err, os.WriteFile(filepath.Join(folder, name), []byte(script), 0o755))
	}
	// Opened for both, it has a reader and a writer at any time.
	reported, opening := os.OpenFile(pipe, os.O_RDWR, 0)
	if err := errors.Join(err, opening); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { reported.Close() })
	go func() {
		for lines := bufio.NewScanner(reported); lines.Scan(); {
			r.events <- lines.Text()
		}
	}()
	return []string{"PATH=" + folder + ":" + os.Getenv("PATH"), "EVENTS=" + pipe, "ANSWERS=" + r.answers, "COPIED=" + r.copied()}
}

// copied is the file with what was copied last.
func (r *rig) copied() string { return filepath.Join(r.stage.Work, "copied") }

// answer says what the next questions answer.
func (r *rig) answer(lines ...string) error {
	text := strings.Join(lines, "\n")
	if text != "" {
		text += "\n"
	}
	// Made anew: whoever edits it in place makes it their own.
	return errors.Join(os.WriteFile(r.answers, []byte(text), 0o666), os.Chmod(r.answers, 0o666))
}

// browses waits until the browser is opened with a page, and gives the address to
// which the page takes it, which has all parts. That is in the page alone.
func (r *rig) browses(parts ...string) (path, address string) {
	r.t.Helper()
	events := r.does("xdg-open")
	path = strings.TrimSpace(strings.TrimPrefix(events[len(events)-1], "xdg-open "))
	text, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatal(err)
	}
	_, link, _ := strings.Cut(string(text), `href="`)
	link, _, _ = strings.Cut(link, `"`)
	if address = html.UnescapeString(link); !hasAll(address, parts) {
		r.t.Fatalf("the browser is taken to %q, not to %q", address, parts)
	}
	return path, address
}

// does waits for an event that has all parts, and gives those before it too.
func (r *rig) does(parts ...string) (before []string) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), timeout)
	defer cancel()
	for {
		select {
		case e := <-r.events:
			before = append(before, e)
			if hasAll(e, parts) {
				return before
			}
		case <-ctx.Done():
			r.t.Fatalf("waited for %q; there was %q", parts, before)
		}
	}
}

func hasAll(text string, parts []string) bool {
	for _, p := range parts {
		if !strings.Contains(text, p) {
			return false
		}
	}
	return true
}

// opens runs the app once more, as a browser does for a link, and waits for its end.
func (r *rig) opens(args ...string) {
	r.t.Helper()
	if err := r.app(r.t.Context(), args...).Run(); err != nil {
		r.t.Fatal(err)
	}
}

// confirms answers the next question with yes, and clicks.
func (r *rig) confirms(titles ...string) {
	r.t.Helper()
	if err := r.answer("yes"); err != nil {
		r.t.Fatal(err)
	}
	r.click(titles...)
}
