package files_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fulmen/daemon/internal/rank/files/pack"
	"fulmen/daemon/internal/rank/files/unpack"
	"fulmen/daemon/internal/rank/files/wire"
	"fulmen/native"
	"fulmen/native/nativetest/testkit"
)

// TestRandomFoldersAndChanges copies folders that change at random: whatever was
// there before, the copy is the folder.
func TestRandomFoldersAndChanges(t *testing.T) {
	t.Parallel()
	clock, err := native.SystemClock()
	if err != nil {
		t.Fatal(err)
	}
	for seed := range testkit.Upto(t, 12) {
		random := seed.Source(1)
		from, home := t.TempDir(), t.TempDir()
		if from, err = filepath.EvalSymlinks(from); err != nil {
			t.Fatal(err)
		}
		for round := range 6 {
			for range 1 + random.IntN(12) {
				change(t, random, from)
			}
			if err := copyOnce(clock, from, home); err != nil {
				t.Fatalf("seed %d, round %d: %v", seed, round, err)
			}
			want, got := tree(t, from), tree(t, filepath.Join(home, "area", "proj"))
			if !maps.Equal(want, got) {
				t.Fatalf("seed %d, round %d: the copy holds\n%v\nand the folder\n%v", seed, round, got, want)
			}
		}
	}
}

// change does one thing to a folder.
func change(t *testing.T, random *rand.Rand, root string) {
	t.Helper()
	elements := make([]string, 1+random.IntN(3))
	for i := range elements {
		elements[i] = string(rune('a' + random.IntN(4)))
	}
	name := filepath.Join(elements...)
	at := filepath.Join(root, name)
	blocked := len(elements) > 1 && os.MkdirAll(filepath.Dir(at), 0o755) != nil
	if there, err := filepath.EvalSymlinks(filepath.Dir(at)); err != nil || there != filepath.Dir(at) {
		blocked = true // by a link, which would put it elsewhere
	}
	if blocked || random.IntN(3) == 0 {
		_ = os.RemoveAll(filepath.Join(root, elements[0]))
		return
	}
	_ = os.RemoveAll(at)
	var err error
	switch random.IntN(6) {
	case 0:
		err = os.Mkdir(at, 0o750)
	case 1:
		target := strings.Repeat("../", random.IntN(len(elements))) + string(rune('a'+random.IntN(4)))
		err = os.Symlink(target, at)
	default:
		err = os.WriteFile(at, []byte(fmt.Sprint(random.IntN(3))), []os.FileMode{0o600, 0o644, 0o755}[random.IntN(3)])
		if old := time.Unix(1e9+random.Int64N(2), 0); err == nil && random.IntN(2) == 0 {
			err = os.Chtimes(at, old, old)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// copyOnce has the two ends talk in this process.
func copyOnce(clock native.Clock, from, home string) error {
	near, far := net.Pipe()
	sent := make(chan error, 1)
	go func() {
		defer far.Close()
		sent <- pack.Run(task(far, wire.PackTask{Folder: from}), far, clock)
	}()
	err := unpack.Run(task(near, wire.UnpackTask{Home: home, Area: "area", Name: "proj"}), near, io.Discard, clock)
	near.Close()
	if sending := <-sent; err == nil {
		err = sending
	}
	return err
}

// task is a stream that begins with a task.
func task(rest io.Reader, value any) io.Reader {
	var first bytes.Buffer
	c := wire.NewConn(nil, &first)
	_ = c.Send(wire.Task, value)
	_ = c.Flush()
	return io.MultiReader(&first, rest)
}
