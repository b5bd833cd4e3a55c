package shim_test

import (
	"bytes"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/internal/rank/ranktest"
	"fulmen/daemon/internal/rank/shim"
	"fulmen/daemon/internal/rank/shimproto"
)

// feed connects to the rank's input and says hello.
func feed(t *testing.T, h *held, epoch int64) (*net.UnixConn, *shimproto.DaemonConn, shimproto.Reply) {
	t.Helper()
	conn := dial(t, shim.InputSocket(h.spec.Socket))
	d := &daemon{t: t, conn: shimproto.NewDaemonConn(conn), spec: h.spec}
	d.send(shimproto.Hello{RequestHeader: d.header(epoch), Ref: h.spec.Ref, Versions: shimproto.OwnVersions(), PID: 1})
	return conn.(*net.UnixConn), d.conn, d.receive()
}

func TestInputSurvivesItsDaemon(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	spec := specOf(t, `cat; echo over`)
	spec.Stdin = shimproto.StdinSocket
	h := hold(t, spec)

	_, _, reply := feed(t, h, 2)
	is.Equal(reply.(shimproto.Refusal).Reason, shimproto.RefuseStaleEpoch)

	first, _, reply := feed(t, h, 3)
	_, ok := reply.(shimproto.Greeting)
	is.True(ok)
	_, err := first.Write([]byte("one "))
	is.NoErr(err)
	eventually(t, "the first part", func() bool { return h.output("out.1") == "one " })
	is.NoErr(first.Close()) // its daemon is gone, and that is no end of the input

	second, answers, _ := feed(t, h, 3)
	more := bytes.Repeat([]byte("two "), 50_000)
	_, err = second.Write(more)
	is.NoErr(err)
	is.NoErr(second.CloseWrite())
	ended(t, answers)
	is.Equal(*h.wait().Code, 0)
	is.Equal(h.output("out.1"), "one "+string(more)+"over\n")
}

// ended reads answers until the end of the input has arrived.
func ended(t *testing.T, answers *shimproto.DaemonConn) {
	t.Helper()
	for {
		answer, err := answers.Receive(timeout)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := answer.(shimproto.Status); ok {
			return
		}
	}
}

// taken reads answers until so much of the input has been taken.
func taken(t *testing.T, answers *shimproto.DaemonConn, bytes int64) {
	t.Helper()
	for {
		answer, err := answers.Receive(timeout)
		if err != nil {
			t.Fatal(err)
		}
		if is, ok := answer.(shimproto.InputTaken); ok && is.Bytes >= bytes {
			return
		}
	}
}

func TestInputGoesOnExactlyWhereItWas(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	spec := specOf(t, `trap 'exec wc -c' USR1; echo $$; while :; do sleep 0.01; done`)
	spec.Stdin = shimproto.StdinSocket
	h := hold(t, spec)
	pid := h.pids(1)[0]

	// Nobody reads: the pipe fills, and the first daemon is stuck in the middle.
	first, answers, _ := feed(t, h, 3)
	go func() { _, _ = first.Write(make([]byte, 4<<20)) }()
	taken(t, answers, 1)

	// A second one is told at once how far it came, and goes on from there.
	second, answers2, _ := feed(t, h, 3)
	answer, err := answers2.Receive(timeout)
	is.NoErr(err)
	at := answer.(shimproto.InputTaken).Bytes
	is.True(at > 0 && at < 4<<20)
	go func() {
		_, _ = second.Write(make([]byte, 5<<20-at))
		_ = second.CloseWrite()
	}()
	is.NoErr(syscall.Kill(pid, syscall.SIGUSR1))
	ended(t, answers2)
	is.Equal(*h.wait().Code, 0)
	is.Equal(strings.Fields(h.output("out.1"))[1], "5242880") // none lost, none doubled
}

func TestAProgramThatClosedItsInputHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	spec := specOf(t, `exec <&-; echo go; while [ ! -e "$1/release" ]; do sleep 0.01; done`)
	spec.Stdin = shimproto.StdinSocket
	h := hold(t, spec)
	h.shows("go")
	conn, answers, _ := feed(t, h, 3)
	go func() {
		_, _ = conn.Write(make([]byte, 1<<20))
		_ = conn.CloseWrite()
	}()
	taken(t, answers, 1<<20)
	ended(t, answers)
	ranktest.Touch(t, spec, "release")
	is.Equal(*h.wait().Code, 0)
}
