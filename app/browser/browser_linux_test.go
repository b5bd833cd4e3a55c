package browser

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"
)

const secret = "#secret=fulmen_s3cret&page=/job/j4k2m9xq7"

// opener stands in for xdg-open: it notes its arguments, and those of every process
// of this machine at that moment.
const opener = `#!/bin/sh
printf '%s\n' "$@" >"$SEEN"
for p in /proc/[0-9]*; do tr '\0' ' ' <"$p/cmdline"; done >"$ALL" 2>/dev/null
exit "$STATUS"
`

// desktop is a home folder and an opener.
func desktop(t *testing.T, status string) (home, seen, all string) {
	t.Helper()
	is := is.New(t)
	tools, home := t.TempDir(), t.TempDir()
	seen, all = filepath.Join(tools, "seen"), filepath.Join(tools, "all")
	is.NoErr(os.WriteFile(filepath.Join(tools, "xdg-open"), []byte(opener), 0o755))
	for name, value := range map[string]string{"PATH": tools + ":" + os.Getenv("PATH"), "HOME": home, "SEEN": seen, "ALL": all, "STATUS": status} {
		t.Setenv(name, value)
	}
	return home, seen, all
}

// While the browser is opened no process has the address in its arguments, and
// nobody else can read the file that has it.
func TestNoArgumentHoldsTheAddress(t *testing.T) {
	is := is.New(t)
	home, seen, all := desktop(t, "0")
	done, err := Open(t.Context(), "http://127.0.0.1:7731/"+secret)
	is.NoErr(err)
	args, err := os.ReadFile(seen)
	is.NoErr(err)
	path := strings.TrimSuffix(string(args), "\n")
	is.Equal(filepath.Dir(path), home)
	is.True(!strings.HasPrefix(filepath.Base(path), ".")) // browsers from a snap do not see those
	processes, err := os.ReadFile(all)
	is.NoErr(err)
	is.True(bytes.Contains(processes, []byte(path))) // the opener's own
	is.True(!bytes.Contains(processes, []byte("s3cret")))
	info, err := os.Stat(path)
	is.NoErr(err)
	is.Equal(info.Mode().Perm(), fs.FileMode(0o600))
	is.Equal(int(info.Sys().(*syscall.Stat_t).Uid), os.Geteuid())
	done()
	_, err = os.Stat(path)
	is.True(errors.Is(err, fs.ErrNotExist))
}

func TestWhatIsNotOpenedLeavesNothing(t *testing.T) {
	for name, c := range map[string]struct{ address, status string }{
		"no browser":     {"http://127.0.0.1:7731/" + secret, "3"},
		"not an address": {"file:///etc/passwd", "0"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			home, _, _ := desktop(t, c.status)
			_, err := Open(t.Context(), c.address)
			is.True(err != nil)
			left, err := os.ReadDir(home)
			is.NoErr(err)
			is.Equal(len(left), 0)
		})
	}
}

// A real browser goes on from the page to the address, fragment and all, and asks
// the server as if the address had been typed.
func TestABrowserFollowsThePage(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no Chromium here")
	}
	is := is.New(t)
	origins := make(chan []string, 16)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			origins <- r.Header.Values("Origin")
		}
		_, _ = w.Write([]byte("<!doctype html><p id=at></p><script>at.textContent = location.hash</script>"))
	}))
	defer server.Close()
	t.Setenv("HOME", t.TempDir())
	p, err := write(server.URL + "/" + secret)
	is.NoErr(err)
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	c := exec.CommandContext(ctx, chromium, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=10000", "--dump-dom", "--user-data-dir="+t.TempDir(), p.path)
	reported, err := c.Output()
	is.NoErr(err)
	is.True(strings.Contains(string(reported), strings.ReplaceAll(secret, "&", "&amp;")))
	is.Equal(len(<-origins), 0) // the server refuses others than its own
}
