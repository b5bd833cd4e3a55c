package command

import (
	"encoding/json"
	"io"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// terminal is a terminal of a test.
type terminal struct {
	mu     sync.Mutex
	raw    int
	behind bool // in the background
	rows   int
}

func (d *terminal) Size() (int, int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rows, 80, nil
}

func (d *terminal) Raw() (func() error, error) {
	d.add(1)
	return func() error { d.add(-1); return nil }, nil
}

func (d *terminal) Foreground() bool { return !d.behind }

func (d *terminal) add(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.raw += n
}

func (d *terminal) isRaw() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.raw > 0
}

// sit gives the rig a terminal at which a test types.
func (r *rig) sit() (*terminal, io.Writer) {
	d := &terminal{rows: 24}
	keys, type_ := io.Pipe()
	r.app.In, r.app.Console = keys, d
	r.app.InTerminal, r.app.Screen, r.app.Terminal = true, true, true
	return d, type_
}

func TestRank0HasTheTerminal(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	f := r.fake()
	d, keys := r.sit()
	_, done := r.begin("run", "--", "python")
	r.daemon.Await("job.watch")
	is.True(!d.isRaw()) // it waits for a place: Ctrl-C is this program's
	f.runs()
	r.daemon.Await("job.resize")
	is.True(d.isRaw())
	is.Equal(r.called("job.resize"), []string{`{"job":"j4k2m9xq7","rows":24,"columns":80}`})
	is.True(f.spec.Program.Terminal)

	d.mu.Lock()
	d.rows = 50
	d.mu.Unlock()
	f.signals <- syscall.SIGWINCH
	r.daemon.AwaitTimes("job.resize", 2)
	is.Equal(r.called("job.resize")[1], `{"job":"j4k2m9xq7","rows":50,"columns":80}`)

	_, err := io.WriteString(keys, "print(1)\r\x03")
	is.NoErr(err)
	f.prints(0, api.StreamOut, ">>> print(1)\r\n1\r\n")
	r.out.await(t, ">>> print(1)\r\n1\r\n")
	is.Equal(len(r.called("job.stop")), 0)        // one Ctrl-C is the program's
	_, err = io.WriteString(keys, "\x03\x03\x03") // all at once: how fast they are pressed is TestPresses's
	is.NoErr(err)
	r.daemon.Await("job.stop")
	f.ends(api.JobStopped, 143, func(j *api.Job) { j.Reason = api.ReasonStoppedByPerson })
	is.Equal(<-done, 130)
	is.True(!d.isRaw())
	f.mu.Lock() // what was typed last may still come
	defer f.mu.Unlock()
	is.True(strings.HasPrefix(string(f.input), "print(1)\r\x03"))
}

func TestTheTerminalIsGivenBack(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	f := r.fake()
	d, _ := r.sit()
	_, done := r.begin("run", "x")
	f.runs()
	r.daemon.Await("job.resize")
	f.signals <- syscall.SIGHUP
	is.Equal(<-done, 129)
	is.True(!d.isRaw())
}

func TestARunInTheBackgroundReadsNothing(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	f := r.fake()
	d, _ := r.sit()
	d.behind = true
	_, done := r.begin("run", "x")
	f.runs()
	r.err.await(t, "running on")
	f.ends(api.JobSucceeded, 0, nil)
	is.Equal(<-done, 0)
	is.Equal(len(r.called("job.input")), 0)
	is.True(!d.isRaw())
}

func TestInputIsGivenAgainUntilItIsTaken(t *testing.T) {
	is := is.New(t)
	r := newRig(t, strings.Repeat("x", 3*inputPiece/2))
	f := r.fake()
	tries := 0
	r.daemon.Set("job.input", func(raw json.RawMessage) (any, error) {
		if tries++; tries%2 == 1 { // every piece is refused once
			return nil, api.Errorf(api.ReasonDeadline, "", "Rank 1 reads nothing.")
		}
		return f.feed(raw)
	})
	_, done := r.begin("run", "-n", "2", "x")
	f.runs()
	is.Equal(len(f.awaitInput()), 3*inputPiece/2)
	f.ends(api.JobSucceeded, 0, nil)
	is.Equal(<-done, 0)
}

// Another client takes over, and what is typed here afterwards follows.
func TestInputAfterThatOfAnother(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	f := r.fake()
	keys, type_ := io.Pipe()
	r.app.In = keys
	_, done := r.begin("run", "-n", "2", "x")
	f.runs()
	_, err := io.WriteString(type_, "one ")
	is.NoErr(err)
	f.mu.Lock()
	for len(f.input) == 0 {
		f.more.Wait()
	}
	f.mu.Unlock()
	_, err = f.feed(json.RawMessage(`{"job":"j4k2m9xq7","giver":"b","offset_bytes":-1,"data":"dHdvIA=="}`))
	is.NoErr(err)
	_, err = io.WriteString(type_, "three")
	is.NoErr(err)
	is.NoErr(type_.Close())
	is.Equal(f.awaitInput(), "one two three")
	f.ends(api.JobSucceeded, 0, nil)
	is.Equal(<-done, 0)
}

func TestPresses(t *testing.T) {
	is := is.New(t)
	start := now()
	for _, c := range []struct {
		typed string
		gap   time.Duration
		want  bool
	}{
		{"\x03\x03", 0, false}, {"\x03\x03\x03", 0, true}, {"\x03|\x03|\x03", time.Second / 2, true}, {"\x03|\x03|\x03", 2 * time.Second, false},
		{"\x03a\x03\x03", 0, false}, {"\x03\x03|x\x03", 0, false}, {"abc", 0, false},
	} {
		var p presses
		meant := false
		for i, part := range strings.Split(c.typed, "|") {
			meant = p.count([]byte(part), start.Add(time.Duration(i)*c.gap)) || meant
		}
		is.Equal(meant, c.want)
	}
}
