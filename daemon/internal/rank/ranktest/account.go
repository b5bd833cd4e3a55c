package ranktest

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"fulmen/daemon/internal/rank/prepare/account"
)

// Self is a path by which every account can execute this test binary; the folder
// that go test builds in is closed.
func Self(t testing.TB) string {
	t.Helper()
	if runtime.GOOS == "linux" {
		return "/proc/self/exe"
	}
	own, err := os.Executable()
	check(t, err)
	from, err := os.Open(own)
	check(t, err)
	defer from.Close()
	path := filepath.Join(Folder(t), "fulmend")
	to, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	check(t, err)
	_, err = io.Copy(to, from)
	check(t, err)
	check(t, to.Close())
	return path
}

// Folder is a new folder that every account can enter, removed at the end.
func Folder(t testing.TB) string {
	t.Helper()
	path, err := os.MkdirTemp("", "prepare")
	check(t, err)
	path, err = filepath.EvalSymlinks(path)
	check(t, err)
	check(t, os.Chmod(path, 0o755))
	t.Cleanup(func() { _ = os.RemoveAll(path) })
	return path
}

// Account is somebody with a home folder of their own: for root an account that
// is not root, else the one that the tests run as.
func Account(t testing.TB, shell string) account.Account {
	t.Helper()
	uid, gid := uint32(os.Getuid()), uint32(os.Getgid())
	if uid == 0 {
		uid, gid = 54321, 54321
	}
	a := account.Account{Name: "ada", UID: uid, GID: gid, Groups: []uint32{gid}, Home: Folder(t), Shell: shell}
	Give(t, a, a.Home)
	return a
}

// Write makes files below a folder and gives them and their folders to the
// account; what begins with #! is executable.
func Write(t testing.TB, a account.Account, root string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path, mode := filepath.Join(root, name), os.FileMode(0o644)
		check(t, os.MkdirAll(filepath.Dir(path), 0o755))
		if len(content) > 1 && content[:2] == "#!" {
			mode = 0o755
		}
		check(t, os.WriteFile(path, []byte(content), mode))
	}
	check(t, filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		Give(t, a, path)
		return err
	}))
}

// Give makes the account the owner of a file or folder.
func Give(t testing.TB, a account.Account, path string) {
	t.Helper()
	if os.Getuid() == 0 {
		check(t, os.Lchown(path, int(a.UID), int(a.GID)))
	}
}

// Shell is the path of a shell of this machine; where there is none the test is skipped.
func Shell(t testing.TB, name string) string {
	t.Helper()
	for _, folder := range []string{"/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"} {
		path := filepath.Join(folder, name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	t.Skipf("there is no %s on this machine", name)
	return ""
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(fmt.Errorf("test kit: %w", err))
	}
}
