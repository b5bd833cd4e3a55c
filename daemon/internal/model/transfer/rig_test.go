package transfer

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/model/inventory"
	"fulmen/daemon/internal/rank/files/wire"
	"fulmen/native"
)

const (
	revision = "0123456789abcdef0123456789abcdef01234567"
	repo     = "models--org--name"
	config   = `{"architectures":["LlamaForCausalLM"],"model_type":"llama"}`
)

var named = api.ModelSelect{Model: "org/name"}

// account is an account's home folder with its cache.
type account struct {
	t    testing.TB
	home string
}

// newAccount makes one in memory, where the system has that: files are written to the
// disk for good one by one.
func newAccount(t testing.TB) account {
	t.Helper()
	folder, err := os.MkdirTemp("/dev/shm", "transfer")
	if err != nil {
		folder = t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	return account{t, folder}
}

func (a account) places() inventory.Places { return inventory.Places{Home: a.home} }

func (a account) cache(parts ...string) string {
	return filepath.Join(append([]string{a.home, ".cache/huggingface/hub"}, parts...)...)
}

func (a account) write(at, content string) {
	a.t.Helper()
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		a.t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(content), 0o644); err != nil {
		a.t.Fatal(err)
	}
}

// file puts a file into the snapshot as Hugging Face does, and gives its blob.
func (a account) file(name, content string, isLarge bool) (blob string) {
	a.t.Helper()
	blob = sum(content)
	if !isLarge {
		git := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(content), content))
		blob = hex.EncodeToString(git[:])
	}
	a.write(a.cache(repo, "blobs", blob), content)
	at := a.cache(repo, "snapshots", revision, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		a.t.Fatal(err)
	}
	if err := os.Symlink(target(name, blob), at); err != nil {
		a.t.Fatal(err)
	}
	return blob
}

// model makes a whole model with so many bytes of weights.
func (a account) model(weights int) account {
	a.t.Helper()
	a.file("config.json", config, false)
	a.file("model.safetensors", safetensors(weights), true)
	a.write(a.cache(repo, "refs/main"), revision)
	return a
}

func sum(content string) string {
	h := sha256.Sum256([]byte(content))
	return hex.EncodeToString(h[:])
}

// safetensors is a file with so many bytes of tensors, no two chunks of which are the same.
func safetensors(tensors int) string {
	header := `{"w":{"dtype":"U8"}}`
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	b = append(b, header...)
	for n := uint64(0); len(b) < tensors+8+len(header); n++ {
		b = binary.LittleEndian.AppendUint64(b, n*0x9e3779b97f4a7c15)
	}
	return string(b[:tensors+8+len(header)])
}

// tree is everything in the cache but for locks.
func (a account) tree() map[string]string {
	a.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(a.cache(), func(at string, e fs.DirEntry, err error) error {
		name, _ := filepath.Rel(a.cache(), at)
		switch {
		case err != nil:
			return err
		case name == ".locks":
			return fs.SkipDir
		case e.IsDir():
			all[name] = "folder"
		case e.Type()&fs.ModeSymlink != 0:
			link, _ := os.Readlink(at)
			all[name] = "-> " + link
		default:
			content, err := os.ReadFile(at)
			if err != nil {
				return err
			}
			all[name] = sum(string(content))
		}
		return nil
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return all
}

// copying is one copy from an account to another.
type copying struct {
	from, to account
	sel      api.ModelSelect
	// after is how many bytes the receiver gets before then is called; it gets no more
	// where isCut.
	after int
	then  func()
	isCut bool
	// alter changes the receiver before it begins.
	alter func(r *receiver)

	received           int // bytes
	sendErr, err       error
	last               wire.Report
	ready, inBetween   int
	sender, receiverIO net.Conn
}

func (c *copying) Read(p []byte) (int, error) {
	if c.after > 0 && c.received >= c.after {
		if c.then != nil {
			c.then()
			c.then = nil
		}
		if c.isCut {
			return 0, io.EOF
		}
	}
	n, err := c.receiverIO.Read(p)
	c.received += n
	return n, err
}

func task(t testing.TB, value any) io.Reader {
	t.Helper()
	var out bytes.Buffer
	c := wire.NewConn(nil, &out)
	if err := c.Send(wire.Task, value); err != nil {
		t.Fatal(err)
	}
	_ = c.Flush()
	return &out
}

// pair is a connection that takes some bytes that nobody reads yet, as real ones do.
func pair(t testing.TB) (a, b net.Conn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, end := range []*net.Conn{&a, &b} {
		f := os.NewFile(uintptr(fds[i]), "end")
		if *end, err = net.FileConn(f); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	return a, b
}

// run runs both ends.
func (c *copying) run() *copying {
	t := c.from.t
	t.Helper()
	c.sender, c.receiverIO = pair(t)
	if c.sel.Model == "" {
		c.sel = named
	}
	done := make(chan error)
	go func() {
		in := io.MultiReader(task(t, SendTask{Places: c.from.places(), Model: c.sel}), c.sender)
		err := Send(in, c.sender)
		c.sender.Close()
		done <- err
	}()
	var reports bytes.Buffer
	in := io.MultiReader(task(t, ReceiveTask{Places: c.to.places(), Model: c.sel}), c)
	r := newReceiver(in, c.receiverIO, &reports, clock(t))
	if c.alter != nil {
		c.alter(r)
	}
	// A connection that is cut is cut both ways.
	c.err = r.run()
	c.receiverIO.Close()
	c.sendErr = <-done
	for lines := bufio.NewScanner(&reports); lines.Scan(); {
		report, err := wire.Decode[wire.Report](bytes.Clone(lines.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		switch c.last = report; report.State {
		case wire.ReportReady:
			c.ready++
		case wire.ReportProgress:
			c.inBetween++
		}
	}
	return c
}

// reason is the reason that the receiver's daemon gets.
func (c *copying) reason() api.Reason {
	if c.last.Error == nil {
		return ""
	}
	return c.last.Error.Data.Reason
}

func clock(t testing.TB) native.Clock {
	t.Helper()
	clock, err := native.SystemClock()
	if err != nil {
		t.Fatal(err)
	}
	return clock
}

// described is what the receiver's account has then, as its inventory finds it.
func (a account) described() api.Model {
	a.t.Helper()
	all := inventory.Open(a.places())
	defer all.Close()
	list := all.List()
	if len(list.Models) != 1 {
		data, _ := json.Marshal(list)
		a.t.Fatalf("%s", data)
	}
	return list.Models[0]
}

func isRoot() bool { return os.Getuid() == 0 }

func contains(s, part string) bool { return strings.Contains(s, part) }
