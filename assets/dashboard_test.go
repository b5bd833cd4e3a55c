package assets

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
)

// mostCompressed is how large the whole page may be as it is sent.
const mostCompressed = 120_000

// What was built in is small, asks nothing of anybody else, and can be served
// under a policy that allows no script and no style within the page.
func TestWhatIsBuiltIn(t *testing.T) {
	files := Dashboard()
	if files == nil {
		t.Skip("the dashboard was not built: make build")
	}
	is := is.New(t)
	total := 0
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(name, ".gz") || name == ".keep" {
			return err
		}
		whole, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		small, err := fs.ReadFile(files, name+".gz")
		if err != nil {
			small = whole
		} else if !bytes.Equal(inflated(t, small), whole) {
			t.Errorf("%s.gz is not the same", name)
		}
		total += len(small)
		if strings.HasSuffix(name, ".css") && regexp.MustCompile(`@import|url\((?:["']?)(?:https?:|//|data:)`).Match(whole) {
			t.Errorf("%s asks for more", name)
		}
		return nil
	})
	is.NoErr(err)
	t.Logf("%d bytes are sent", total)
	is.True(total <= mostCompressed) // the page is small

	index, err := fs.ReadFile(files, "index.html")
	is.NoErr(err)
	for _, tag := range regexp.MustCompile(`(?s)<(?:script|link|style|img)\b[^>]*>`).FindAllString(string(index), -1) {
		at := regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindStringSubmatch(tag)
		if at == nil || !strings.HasPrefix(at[1], "/assets/") {
			t.Errorf("the page has %s", tag)
		}
	}
	is.True(!regexp.MustCompile(`\sstyle=|\son[a-z]+=`).Match(index)) // nothing inline
}

func inflated(t *testing.T, small []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(small))
	is.New(t).NoErr(err)
	whole, err := io.ReadAll(r)
	is.New(t).NoErr(err)
	return whole
}

// The parts that compute have tests of their own.
func TestParts(t *testing.T) {
	node(t, "node_modules/vitest/vitest.mjs", "run")
}

// Scripts and markup fit the types, which are those of the API.
func TestTypes(t *testing.T) {
	node(t, "node_modules/svelte-check/bin/svelte-check", "--tsconfig", "./tsconfig.json", "--threshold", "warning", "--fail-on-warnings", "--output", "human")
}

// node runs a tool of the dashboard's packages, which make deps fetches.
func node(t *testing.T, program string, args ...string) {
	t.Helper()
	if testing.Short() {
		t.Skip("a tool of Node is run")
	}
	t.Chdir("dashboard")
	if _, err := os.Stat(program); err != nil {
		t.Skipf("%s is not there: make deps fetches it", program)
	}
	readSources(t)
	own, err := filepath.Abs("../../build/tools/bin/node")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(own); err != nil {
		own = "node"
	}
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, own, append([]string{program}, args...)...)
	cmd.Env = append(os.Environ(), "NO_COLOR=1")
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
}

// readSources reads what the tool reads, so that go test runs it again when that
// has changed.
func readSources(t *testing.T) {
	t.Helper()
	for _, folder := range []string{"src", "browser"} {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			_, err = os.ReadFile(path)
			return err
		})
		is.New(t).NoErr(err)
	}
	for _, file := range []string{"package-lock.json", "tsconfig.json", "vite.config.ts", "vitest.config.ts", "svelte.config.js"} {
		_, err := os.ReadFile(file)
		is.New(t).NoErr(err)
	}
}
