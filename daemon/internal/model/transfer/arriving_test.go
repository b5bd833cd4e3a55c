package transfer

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/files/wire"
)

// odd is a model with files of every form.
func odd(t *testing.T) account {
	t.Helper()
	a := newAccount(t).model(11 << 20)
	a.file("again/config.json", "", false)
	a.write(a.cache(repo, "snapshots", revision, "plain.bin"), safetensors(9<<20))
	a.write(a.cache(repo, "snapshots", revision, "small.txt"), "plain")
	return a
}

// behind begins a copy from the account to which another one goes on, and lets that go on
// when this one has got some of it.
func (c *copying) behind(to account) (next *copying, ended chan struct{}) {
	begun, ended := make(chan struct{}), make(chan struct{})
	next = &copying{from: c.to, to: to, after: 5 << 20, then: func() { close(begun) }}
	before := c.then
	c.then = func() {
		if before != nil {
			before()
		}
		go func() {
			next.run()
			close(ended)
		}()
		<-begun
	}
	return next, ended
}

// TestAModelThatArrivesIsSentOn: each Mac of a chain sends what it has to the next one,
// though none of them is whole yet.
func TestAModelThatArrivesIsSentOn(t *testing.T) {
	is := is.New(t)
	from, b, c, d := odd(t), newAccount(t), newAccount(t), newAccount(t)
	whole := safetensors(11 << 20)
	c.write(c.cache(repo, "blobs", sum(whole)+partialSuffix), whole[:5<<20]) // it was cut once
	first := &copying{from: from, to: b, after: 9 << 20}
	second, secondEnded := first.behind(c)
	second.after = 1 << 20
	third, thirdEnded := second.behind(d)
	third.after = 1 << 20
	is.NoErr(first.run().err)
	<-secondEnded
	<-thirdEnded
	for _, one := range []*copying{first, second, third} {
		is.NoErr(one.err)
		is.NoErr(one.sendErr)
		is.Equal(one.last.Model.DoneBytes, one.last.Model.TotalBytes)
		is.Equal(one.to.tree(), from.tree())
	}
}

// TestAModelThatNoLongerArrives: what has come stays, and the next copy goes on from there.
func TestAModelThatNoLongerArrives(t *testing.T) {
	is := is.New(t)
	from, b, c := odd(t), newAccount(t), newAccount(t)
	first := &copying{from: from, to: b, after: 9 << 20, isCut: true}
	second, ended := first.behind(c)
	is.True(first.run().err != nil)
	<-ended
	is.Equal(second.reason(), api.ReasonModelNotCopied)
	is.True(contains(second.last.Error.Message, "org/name no longer arrives"))
	is.Equal(second.last.Error.Data.Remedy, keptRemedy)
	is.Equal((&copying{from: b, to: newAccount(t)}).run().reason(), api.ReasonNoSuchModel)
	again := (&copying{from: from, to: c}).run()
	is.NoErr(again.err)
	is.True(again.received < 17<<20)
	is.Equal(c.tree(), from.tree())
}

// announced is an account to which a download by others goes on.
func announced(t *testing.T, files ...File) (account, func()) {
	t.Helper()
	a := newAccount(t)
	if err := os.MkdirAll(a.cache(repo), 0o755); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(a.cache(repo))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	end, err := Announce(root, "org/name", revision, []string{"main"}, files)
	if err != nil {
		t.Fatal(err)
	}
	return a, end
}

// TestWhatHuggingFaceFetchesIsSentOn: it has the same names of blobs, and one of its own for
// what is not whole.
func TestWhatHuggingFaceFetchesIsSentOn(t *testing.T) {
	is := is.New(t)
	weights := safetensors(9 << 20)
	a, end := announced(t, File{Path: "config.json", Size: int64(len(config)), Hash: sum(config)}, File{Path: "model.safetensors", Size: int64(len(weights)), Hash: sum(weights)})
	a.write(a.cache(repo, "blobs", sum(config)), config)
	partial := a.cache(repo, "blobs", sum(weights)+hubPartialSuffix)
	a.write(partial, weights[:5<<20])
	to := newAccount(t)
	c := &copying{from: a, to: to, after: 4 << 20, then: func() {
		a.write(partial, weights)
		is.NoErr(os.Rename(partial, a.cache(repo, "blobs", sum(weights))))
		end()
	}}
	is.NoErr(c.run().err)
	is.True(*to.described().Complete)
	is.Equal(to.described().Refs, []string{"main"})
	left, err := os.ReadDir(a.cache(repo))
	is.NoErr(err)
	is.Equal(len(left), 1) // the blobs
}

// TestNothingArrives: a list alone is not enough, nor one that is none, nor that of another
// revision; and what does not grow is given up, though not in silence.
func TestNothingArrives(t *testing.T) {
	is := is.New(t)
	a, end := announced(t, File{Path: "config.json", Size: 9, Hash: sum("a")})
	other := (&copying{from: a, to: newAccount(t), sel: api.ModelSelect{Model: "org/name", Revision: "fff"}}).run()
	is.Equal(other.reason(), api.ReasonNoSuchModel)

	in := task(t, SendTask{Places: a.places(), Model: named, Silence: time.Millisecond}).(*bytes.Buffer)
	ask := wire.NewConn(nil, in)
	_ = ask.Send(wire.Ask, request{})
	is.NoErr(ask.Flush())
	var out bytes.Buffer
	is.True(Send(in, &out) != nil)
	answers, waiting := wire.NewConn(&out, nil), 0
	_, err := readListing(answers, false)
	is.NoErr(err)
	kind, data, err := answers.Read()
	for ; kind == wire.Waiting; kind, data, err = answers.Read() {
		is.NoErr(err)
		waiting++
	}
	is.NoErr(err)
	is.True(waiting > 0)
	is.Equal(api.AsError(wire.Unexpected(kind, data)).Data.Reason, api.ReasonModelNotCopied)

	list, err := os.ReadFile(a.cache(repo, listAt))
	is.NoErr(err)
	end()
	a.write(a.cache(repo, listAt), string(list)) // its process was killed
	is.Equal((&copying{from: a, to: newAccount(t)}).run().reason(), api.ReasonNoSuchModel)
	is.NoErr(os.Remove(a.cache(repo, listAt)))
	secret := filepath.Join(a.home, "list")
	is.NoErr(os.WriteFile(secret, list, 0o600))
	is.NoErr(os.Symlink(secret, a.cache(repo, listAt)))
	is.Equal((&copying{from: a, to: newAccount(t)}).run().reason(), api.ReasonNoSuchModel)
}

// TestALinkIsNoFileThatArrives: what a link leads to is sent to nobody, not even within the
// repository.
func TestALinkIsNoFileThatArrives(t *testing.T) {
	is := is.New(t)
	a, end := announced(t, File{Path: "a", Size: 1, Hash: sum("a")}, File{Path: "b", Size: 1, Sum: sum("a")})
	defer end()
	a.write(filepath.Join(a.home, "secret"), "a")
	a.write(a.cache(repo, "inside"), "a")
	is.NoErr(os.MkdirAll(a.cache(repo, "blobs"), 0o755))
	model, err := openArriving(SendTask{Places: a.places(), Model: named}, clock(t))
	is.NoErr(err)
	defer model.close()
	for _, to := range []string{"../../../../../../secret", filepath.Join(a.home, "secret"), "../inside"} {
		for _, at := range []string{blob(sum("a")), blob(sum("a")) + partialSuffix, blob(sum("a")) + hubPartialSuffix} {
			is.NoErr(os.Symlink(to, a.cache(repo, at)))
			for n := range 2 {
				is.True(model.find(n, 1) == nil)
			}
			is.NoErr(os.Remove(a.cache(repo, at)))
		}
	}
	a.write(a.cache(repo, blob(sum("a"))+partialSuffix), "a")
	for n := range 2 {
		f := model.find(n, 1)
		is.True(f != nil)
		f.Close()
		is.True(model.find(n, 2) == nil)
	}
}

// TestAReceiverWaits as long as the sender does, and says so itself to whoever waits for it.
func TestAReceiverWaits(t *testing.T) {
	is := is.New(t)
	to := newAccount(t)
	_, err := receiveFrom(t, to, script(func(c *wire.Conn) {
		offer(c, File{Path: "a", Size: 1})
		for range 3 {
			_ = c.Send(wire.Waiting, nil)
		}
		_ = c.Send(wire.Hashes, wire.HashList{sum("a")})
		_ = c.Send(wire.Waiting, nil)
		answerWith(c, "a", sum("a"))
	}), false)
	is.NoErr(err)
	a, end := announced(t, File{Path: "a", Size: 1})
	defer end()
	model, err := openArriving(SendTask{Places: a.places(), Model: named}, clock(t))
	is.NoErr(err)
	defer model.close()
	r := receiver{store: model.store, clock: clock(t)}
	is.NoErr(os.Chtimes(a.cache(repo, listAt), time.Time{}, time.Unix(1, 0)))
	before := model.mark(0)
	r.beat()
	is.True(model.mark(0) != before)
}
