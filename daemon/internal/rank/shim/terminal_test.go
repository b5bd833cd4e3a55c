package shim_test

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/internal/rank/ranktest"
	"fulmen/daemon/internal/rank/shimproto"
)

// terminalOf is a spec for a shell script with a terminal of 30 by 100.
func terminalOf(t *testing.T, script string) shimproto.Spec {
	t.Helper()
	spec := specOf(t, script)
	spec.Stdin, spec.Terminal = shimproto.StdinSocket, &shimproto.Terminal{Rows: 30, Columns: 100}
	spec.Env = append(spec.Env, "TERM=dumb", "PS1=ready>")
	return spec
}

// shows waits until the terminal has shown something.
func (h *held) shows(text string) {
	h.t.Helper()
	eventually(h.t, text, func() bool { return strings.Contains(h.output("out.1"), text) })
}

func TestATerminal(t *testing.T) {
	ranktest.NeedTerminals(t)
	t.Parallel()
	is := is.New(t)
	h := hold(t, terminalOf(t, `stty size; tty >/dev/null && echo terminal; (: </dev/tty) && echo controlling; echo wrong >&2; exit 4`))
	r := h.wait()
	is.Equal(*r.Code, 4)
	is.Equal(h.output("out.1"), "30 100\r\nterminal\r\ncontrolling\r\nwrong\r\n") // in one stream, in order
	is.Equal(len(r.Logs), 1)
	is.Equal(r.Logs[0].WrittenBytes, int64(len(h.output("out.1"))))
}

func TestAPythonProgramSeesATerminal(t *testing.T) {
	ranktest.NeedTerminals(t)
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	is := is.New(t)
	spec := terminalOf(t, "")
	spec.Program = python
	spec.Args = []string{"-c", "import os, sys; print([f.isatty() for f in (sys.stdin, sys.stdout, sys.stderr)], os.get_blocking(0), os.get_terminal_size())"}
	h := hold(t, spec)
	is.Equal(*h.wait().Code, 0)
	is.Equal(h.output("out.1"), "[True, True, True] True os.terminal_size(columns=100, lines=30)\r\n")
}

func TestTypingAtATerminal(t *testing.T) {
	ranktest.NeedTerminals(t)
	t.Parallel()
	is := is.New(t)
	h := hold(t, terminalOf(t, `stty -echo; trap 'echo interrupted' INT; echo go; until read line; do :; done; echo "got $line"; cat; echo over`))
	h.shows("go")
	conn, answers, _ := feed(t, h, 3)
	_, err := conn.Write([]byte{3}) // what a terminal sends for Ctrl-C
	is.NoErr(err)
	h.shows("interrupted")
	_, err = conn.Write([]byte("half\x7f\x7flo\n")) // the terminal edits the line
	is.NoErr(err)
	h.shows("got halo")
	_, err = conn.Write([]byte("no newline"))
	is.NoErr(err)
	is.NoErr(conn.CloseWrite())
	ended(t, answers)
	is.Equal(*h.wait().Code, 0)
	is.True(strings.HasSuffix(h.output("out.1"), "no newlineover\r\n"))
}

func TestATerminalIsResized(t *testing.T) {
	ranktest.NeedTerminals(t)
	t.Parallel()
	is := is.New(t)
	h := hold(t, terminalOf(t, `trap 'stty size' WINCH; echo go; while :; do sleep 0.01; done`))
	h.shows("go")
	d, _ := h.attach(3)
	d.send(shimproto.Resize{RequestHeader: d.header(3), Terminal: shimproto.Terminal{Rows: 50, Columns: 132}})
	_, ok := d.answer().(shimproto.Status)
	is.True(ok)
	h.shows("50 132")
	d.send(d.stopFor(3, 0))
	d.exit()

	none := hold(t, specOf(t, `sleep 1000`)) // has no terminal, and does not mind
	d, _ = none.attach(3)
	d.running(3)
	d.send(shimproto.Resize{RequestHeader: d.header(3), Terminal: shimproto.Terminal{Rows: 50, Columns: 132}})
	_, ok = d.answer().(shimproto.Status)
	is.True(ok)
}

func TestAShellAtItsTerminalHangsUp(t *testing.T) {
	ranktest.NeedTerminals(t)
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	is := is.New(t)
	spec := terminalOf(t, "")
	spec.Program, spec.Args = bash, []string{"--norc", "--noediting", "-i"}
	h := hold(t, spec)
	d, _ := h.attach(3)
	conn, _, _ := feed(t, h, 3)
	// In a group of its own, which has the terminal. What is typed is shown before there
	// is a shell; two and two are not added up before it runs this.
	_, err = conn.Write([]byte("sh -c 'echo $((2 + 2)) sleeps; exec sleep 1000'\n"))
	is.NoErr(err)
	h.shows("4 sleeps")
	d.running(3)
	d.send(d.stopFor(3, 10)) // of which the second half has to do for bash to end
	r := d.exit()
	is.Equal(r.Signal, "SIGHUP")
	is.True(!r.KilledAfterGrace)
}

func TestATerminalThatShowsMuch(t *testing.T) {
	ranktest.NeedTerminals(t)
	t.Parallel()
	is := is.New(t)
	// The program ends while the shim still reads, and something hidden keeps the
	// terminal for a moment.
	h := hold(t, terminalOf(t, `stty -opost; head -c 3000000 /dev/zero | tr '\0' x; printf end`))
	is.Equal(*h.wait().Code, 0)
	data, _ := kept(t, h.spec.Folder+"/out.1")
	is.True(bytes.HasSuffix(data, []byte("xxend")))
	r, err := shimproto.ReadExit(h.spec.Folder)
	is.NoErr(err)
	is.Equal(r.Logs[0].WrittenBytes, int64(3_000_003))
	is.True(r.ElapsedS < 20)
}
