package output_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/rank/ranktest"
	"fulmen/daemon/internal/rank/shimproto"
)

// talks prints, and waits between for files that a test makes.
const talks = `echo one; while [ ! -e "$1/two" ]; do sleep 0.01; done; echo bad >&2; printf two; while [ ! -e "$1/end" ]; do sleep 0.01; done`

func TestFollowingARank(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	r := newRig(t, talks)
	g := r.open(api.PeerOutput{By: ada, Follow: true}) // before there is anything
	r.start()
	g.until(func() bool { return g.out() == "one\n" })
	late := r.open(api.PeerOutput{By: ada, Follow: true, OutBytes: 2})
	r.release("two")
	g.until(func() bool { return g.out() == "one\ntwo" && len(g.text[api.StreamErr]) == 4 })
	g.until(func() bool { return g.beats > 1 }) // nothing is printed, and the reader knows that somebody is there
	is.True(g.end == nil)
	r.release("end")
	is.Equal(*g.all().end, peer.End{OutBytes: 7, ErrBytes: 4, Ended: true})
	is.Equal(late.all().out(), "e\ntwo")
	is.Equal(string(late.text[api.StreamErr]), "bad\n")
}

func TestLookingOnce(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	r := newRig(t, talks)
	r.start()
	r.release("two")
	g := r.open(api.PeerOutput{By: ada, Follow: true})
	g.until(func() bool { return g.out() == "one\ntwo" && len(g.text[api.StreamErr]) == 4 }) // two pipes: neither waits for the other

	now := r.open(api.PeerOutput{By: ada}).all()
	is.Equal(now.out(), "one\ntwo")
	is.True(!now.end.Ended)
	tail := r.open(api.PeerOutput{By: ada, OutBytes: -5, ErrBytes: -100}).all()
	is.Equal(tail.out(), "e\ntwo")
	is.Equal(string(tail.text[api.StreamErr]), "bad\n")
	r.release("end")
	g.all()
	is.True(r.open(api.PeerOutput{By: ada}).all().end.Ended)
}

// What the preparation printed is given like the rest, in its place.
func TestWhatThePreparationPrinted(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	r := newRig(t, `echo ran; echo ran >&2`)
	path := filepath.Join(r.folder, api.PrepareFile)
	is.Equal(*r.open(api.PeerOutput{By: ada, Prepare: true}).all().end, peer.End{}) // there is none
	g := r.open(api.PeerOutput{By: ada, Prepare: true, Follow: true})
	g.until(func() bool { return g.beats > 0 })
	is.NoErr(os.WriteFile(path, []byte("resolving\n"), 0o600))
	g.until(func() bool { return string(g.text[api.StreamErr]) == "resolving\n" })
	is.NoErr(os.WriteFile(path, []byte("resolving\ninstalled\n"), 0o600))
	<-r.start()
	is.Equal(*g.all().end, peer.End{ErrBytes: 20, Ended: true})
	is.Equal(string(g.text[api.StreamErr]), "resolving\ninstalled\n")
	is.Equal(g.out(), "")
	is.Equal(string(r.open(api.PeerOutput{By: ada, Prepare: true, ErrBytes: -10}).all().text[api.StreamErr]), "installed\n")
	is.Equal(r.open(api.PeerOutput{By: ada}).all().out(), "ran\n")
	is.Equal(r.open(api.PeerOutput{By: eve, Prepare: true}).all().refused.Data.Reason, api.ReasonNotYourJob)
}

// Who asks for the end of what is not there yet gets all that comes.
func TestTheEndOfNothing(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	r := newRig(t, talks)
	g := r.open(api.PeerOutput{By: ada, Follow: true, OutBytes: -1, ErrBytes: -1})
	g.until(func() bool { return g.beats > 0 }) // it has looked
	r.start()
	r.release("two")
	r.release("end")
	is.Equal(g.all().out(), r.open(api.PeerOutput{By: ada}).all().out())
	is.Equal(string(g.text[api.StreamErr]), "bad\n")
}

func TestOutputWithAHole(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	r := newRig(t, `printf begin; head -c 67108864 /dev/zero; printf end`)
	<-r.start()
	g := r.open(api.PeerOutput{By: ada, Follow: true}).all()
	is.Equal(g.end.OutBytes, int64(64<<20+8))
	is.True(g.skipped > 32<<20)
	is.Equal(int64(len(g.out()))+g.skipped, g.end.OutBytes)
	is.True(strings.HasPrefix(g.out(), "begin\x00") && strings.HasSuffix(g.out(), "\x00end"))
}

// TestAStalledReader has a rank print far more than is kept, while one reader
// never reads and another is slow.
func TestAStalledReader(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	size, script := int64(1<<30), `yes | head -c 1073741824; touch "$1/done"`
	if testing.Short() {
		size, script = 64<<20, `yes | head -c 67108864; touch "$1/done"`
	}
	r := newRig(t, script)
	r.open(api.PeerOutput{By: ada, Follow: true})
	slow := r.open(api.PeerOutput{By: ada, Follow: true})
	gone := r.start()
	slow.until(func() bool { return len(slow.text[api.StreamOut]) > 0 }) // and then not, until the rank has ended
	<-gone
	_, err := os.Stat(filepath.Join(r.folder, "done")) // it has printed all
	is.NoErr(err)
	slow.all()
	is.Equal(slow.end.OutBytes, size)
	is.True(slow.skipped > size/2)
	is.Equal(int64(len(slow.out()))+slow.skipped, size)
	is.Equal(bytes.Count(slow.text[api.StreamOut], []byte{0}), 0) // what was freed while it was read is not taken for output
}

func TestAKilledShim(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	r := newRig(t, `echo alive; sleep 1000`)
	gone := r.start()
	g := r.open(api.PeerOutput{By: ada, Follow: true})
	g.until(func() bool { return g.out() == "alive\n" })
	is.NoErr(r.shim.Process.Kill())
	<-gone
	_, err := shimproto.ReadExit(r.folder)
	is.True(os.IsNotExist(err))
	close(r.ended) // the supervisor knows
	is.Equal(*g.all().end, peer.End{OutBytes: 6, Ended: true})
}

func TestATerminalHasOneStream(t *testing.T) {
	ranktest.NeedTerminals(t)
	t.Parallel()
	is := is.New(t)
	r := newRig(t, `echo out; echo err >&2`)
	r.spec.Stdin, r.spec.Terminal = shimproto.StdinSocket, &shimproto.Terminal{Rows: 24, Columns: 80}
	r.start()
	g := r.open(api.PeerOutput{By: ada, Follow: true}).all()
	is.Equal(g.out(), "out\r\nerr\r\n")
	is.Equal(g.end.ErrBytes, int64(0))
}

func TestWhoMaySee(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	r := newRig(t, "")
	r.release("out.1")
	is.Equal(r.open(api.PeerOutput{By: eve}).all().refused.Data.Reason, api.ReasonNotYourJob)
	forged := api.Principal{User: "ada", Node: here}
	is.Equal(r.open(api.PeerOutput{By: forged}).all().refused.Data.Reason, api.ReasonPeerNotAllowed)
	conn, err := r.reader.Stream(t.Context(), here, api.PeerConn{
		Carries: api.ConnOutput, Rank: api.RankRef{Job: rank.Job, Attempt: 2, Rank: 1}, Output: &api.PeerOutput{By: ada}})
	is.NoErr(err)
	m, err := peer.NewReader(conn).Next()
	is.NoErr(err)
	is.Equal(m.(peer.Refused).Error.Data.Reason, api.ReasonNoSuchRank)
}

func TestALinkInPlaceOfALog(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	r := newRig(t, "")
	secret := filepath.Join(t.TempDir(), "secret")
	is.NoErr(os.WriteFile(secret, []byte("secret"), 0o600))
	is.NoErr(os.Symlink(secret, filepath.Join(r.folder, "out.1")))
	is.Equal(r.open(api.PeerOutput{By: ada}).all().refused.Data.Reason, api.ReasonReadFailed)
	is.NoErr(os.Remove(filepath.Join(r.folder, "out.1")))
	if os.Link(secret, filepath.Join(r.folder, "out.1")) == nil {
		is.Equal(r.open(api.PeerOutput{By: ada}).all().refused.Data.Reason, api.ReasonReadFailed)
	}
}

// TestWhatTheDiskDidNotTake: nothing comes after it, so that its end says so, to who
// follows and to who looks later.
func TestWhatTheDiskDidNotTake(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	r := newRig(t, `echo some`)
	g := r.open(api.PeerOutput{By: ada, Follow: true})
	<-r.start()
	is.True(g.all().end != nil)
	record, err := shimproto.ReadExit(r.folder)
	is.NoErr(err)
	for i := range record.Logs {
		if record.Logs[i].Stream == "stdout" {
			record.Logs[i].WrittenBytes, record.Logs[i].Problem = 105, "no space left on device"
		}
	}
	is.NoErr(shimproto.WriteExit(r.folder, record))
	for _, follow := range []bool{true, false} {
		g := r.open(api.PeerOutput{By: ada, Follow: follow}).all()
		is.Equal(g.out(), "some\n")
		is.Equal(g.refused.Data.Reason, api.ReasonOutputLost)
		is.Equal(g.refused.Message, "100 bytes of what rank 1 printed could not be written to the disk: no space left on device.")
	}
	is.True(r.open(api.PeerOutput{By: ada, Prepare: true}).all().refused == nil)
}
