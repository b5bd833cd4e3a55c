package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"fulmen/native/nativetest/testkit"
)

// ErrNotFetched says that zig or MLX for macOS is not there.
var ErrNotFetched = errors.New("zig or MLX for macOS is not there: cmd/internal/deps/deps.sh darwin fetches them")

// deadline bounds one command; linking with nothing cached takes a minute or two.
const deadline = 15 * time.Minute

// Toolchain builds for macOS on arm64, on Linux.
type Toolchain struct {
	root string
	env  []string
	lock *os.File // until this process ends
}

// Open prepares the compiler for the repository at root, in build/darwin, where
// `deps.sh darwin` was run; without that the error is ErrNotFetched.
func Open(root string) (*Toolchain, error) {
	for _, needed := range []string{"build/tools/zig/ziglang/zig", "build/tools/mlx-metal/mlx/lib/libmlx.dylib"} {
		if _, err := os.Stat(filepath.Join(root, needed)); errors.Is(err, fs.ErrNotExist) {
			return nil, ErrNotFetched
		} else if err != nil {
			return nil, err
		}
	}
	t := &Toolchain{root: root}
	var err error
	if t.lock, err = testkit.Alone(t.built("")); err != nil {
		return nil, err
	}
	if _, err := t.command("go", "build", "-o", t.built("zigcc"), "./cmd/internal/darwincheck"); err != nil {
		return nil, err
	}
	reported, err := t.reported()
	if err != nil {
		return nil, err
	}
	t.env = []string{
		"GOOS=darwin", "GOARCH=arm64", "CGO_ENABLED=1",
		fmt.Sprintf("CC=%q %q cc", t.built("zigcc"), root), fmt.Sprintf("CXX=%q %q c++", t.built("zigcc"), root),
		// The go command does not see that a header outside of a package has
		// changed, nor the compiler. It sees flags.
		"CGO_CFLAGS=-O2 -g -DFULMEN_TOLD_" + reported,
		"CGO_LDFLAGS=-O2 -g",
		// Nearly half of the compiler's time: nothing here runs what it makes.
		"GOFLAGS=" + strings.TrimSpace(os.Getenv("GOFLAGS")+" '-gcflags=all=-l -dwarf=false'"),
	}
	return t, nil
}

// built gives the path of something that is made for macOS.
func (t *Toolchain) built(name string) string {
	return filepath.Join(t.root, "build/darwin", name)
}

// reported is a digest of what the compiler is told: its command, and the
// declarations of Apple's functions.
func (t *Toolchain) reported() (string, error) {
	digest := sha256.New()
	for _, place := range []string{"cmd/internal/darwincheck/main.go", "cmd/internal/darwincheck/include", "native/darwin/apple"} {
		err := filepath.WalkDir(filepath.Join(t.root, place), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			fmt.Fprintf(digest, "%s %d\n%s", path, len(text), text)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%x", digest.Sum(nil)[:8]), nil
}

// command runs a program in the repository, for macOS once the toolchain is
// there. The error has what it wrote.
func (t *Toolchain) command(name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = t.root
	cmd.Env = append(os.Environ(), t.env...)
	var out, diag bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diag
	if err := cmd.Run(); err != nil {
		reported := strings.Join(args, " ")
		if len(reported) > 300 {
			reported = reported[:300] + "..."
		}
		return out.String(), fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), reported, err, strings.TrimSpace(diag.String()))
	}
	return out.String(), nil
}
